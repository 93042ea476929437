package scan

import (
	"encoding/binary"
	"hash/crc32"
	"slices"
)

// A Saved is what one process leaves to the next: the tracked files, nil where
// there are none, and the state of the work tree.
//
// Most directories are the same in both. In saved form such a directory stands
// once, among those of the index, but with the listing of the state; and where
// both are known to be what they say, with the stats of the state's files, which
// are not cut to 32 bits.
//
// The form begins with the CRC-32 of all that follows it, how many files and how
// many directories of the index there are, and how many bytes the names and the
// records of the files take. Then come the names, of each directory and then of the
// files in it, the ids of the files, what [saveFiles] appends for each directory, and
// a record of each. The directories are in order of their depth: the root, those in
// it, those in the first of these, those in the second, and so on. The rest is the
// state: what [saver.state] appends. All numbers but those of the state are
// little-endian, of 4 bytes where nothing else is said.
//
// It is no larger than can be helped: to give a process memory takes longer than to
// look at all that is in it.
type Saved struct{ Index, State *Dir }

// Sizes in bytes.
const (
	savedHead     = 5 * 4
	savedIDSize   = 20
	savedStatSize = 4 * 8
	savedDirSize  = 4 + 4 + 4 + 1 + savedIDSize + savedStatSize // length of the name, files, directories, bits, id, stat
	savedLeast    = 2 + 1 + savedIDSize + savedStatSize         // a file of the state: its name, of one byte, mode and trust, id, stat
)

// Bits of what stands before a directory.
const (
	savedGit        = 1 << iota // listing.hasGit
	savedIgnore                 // listing.hasIgnore
	savedAttributes             // listing.hasAttributes
	savedSameFiles              // the files are those of the index
	savedSameDirs               // the subdirectories have the names of those of the index
	savedSame                   // it is that of the index; nothing follows
	savedShort                  // the records of the files are short
)

// Append appends the saved form to b.
func (s Saved) Append(b []byte) []byte {
	w := saver{agreed: make(map[*Dir]*Dir)}
	w.agree(s.State, s.Index)
	at := len(b)
	b = w.index(append(b, 0, 0, 0, 0), s.Index)
	b = w.state(b, s.State, s.Index)
	binary.LittleEndian.PutUint32(b[at:], crc32.ChecksumIEEE(b[at+4:]))
	return b
}

// A saver makes the saved form.
type saver struct {
	agreed map[*Dir]*Dir // by the directory of the index, the one of the state that is the same
}

// agree finds out which directories are the same in both. It reports whether
// these are.
func (w *saver) agree(d, index *Dir) bool {
	switch {
	case d == index:
		return true
	case index == nil:
		return false
	}
	same := len(d.Dirs) == len(index.Dirs) && d.listing.others == "" &&
		slices.EqualFunc(d.Files(), index.Files(), func(a, b File) bool { return a.standsFor(&b) })
	for _, child := range d.Dirs {
		if !w.agree(child, index.subdir(child.Name)) {
			same = false
		}
	}
	if same {
		w.agreed[index] = d
	}
	return same
}

// standsFor reports whether all that is known of f holds for a tracked file, too.
func (f *File) standsFor(tracked *File) bool {
	return *f == *tracked ||
		f.Name == tracked.Name && f.same(tracked) && f.trust == exact && tracked.matches(f.stat)
}

func (w *saver) agrees(d, index *Dir) bool {
	return index != nil && (d == index || w.agreed[index] == d)
}

// index appends the directories of the index.
func (w *saver) index(b []byte, index *Dir) []byte {
	dirs, files := w.breadthFirst(index)
	var names, ids, records, all []byte
	numbers := func(b []byte, numbers ...int) []byte {
		for _, n := range numbers {
			b = binary.LittleEndian.AppendUint32(b, uint32(n))
		}
		return b
	}
	for _, d := range dirs {
		names = append(names, d.Name...)
		for _, f := range d.Files() {
			names, ids = append(names, f.Name...), append(ids, f.ID[:]...)
		}
		bits, short := d.listing.bits(), false
		if records, short = saveFiles(records, d.Files()); short {
			bits |= savedShort
		}
		all = append(append(numbers(all, len(d.Name), len(d.Files()), len(d.Dirs)), bits), d.id[:]...)
		all = d.listing.stat.save(all)
	}
	return slices.Concat(numbers(b, files, len(dirs), len(names), len(records)), names, ids, records, all)
}

// breadthFirst returns the directories of the index, and how many files are in
// them.
func (w *saver) breadthFirst(index *Dir) (dirs []*Dir, files int) {
	if index != nil {
		dirs = append(dirs, index)
	}
	for i := 0; i < len(dirs); i++ {
		if d := w.agreed[dirs[i]]; d != nil {
			dirs[i] = d
		}
		dirs = append(dirs, dirs[i].Dirs...)
		files += len(dirs[i].Files())
	}
	return dirs, files
}

// state appends a directory of the state.
func (w *saver) state(b []byte, d, index *Dir) []byte {
	if w.agrees(d, index) {
		return append(b, savedSame)
	}
	bits := d.listing.bits()
	sameFiles, sameDirs := d.sameFiles(index), d.sameDirs(index)
	if sameFiles {
		bits |= savedSameFiles
	}
	if sameDirs {
		bits |= savedSameDirs
	}
	b = append(append(b, bits), d.id[:]...)
	b = d.listing.stat.save(b)
	b = saveString(b, d.listing.others)
	if !sameFiles {
		files := d.Files()
		b = binary.AppendUvarint(b, uint64(len(files)))
		for i := range files {
			f := &files[i]
			b = f.stat.save(append(append(saveString(b, f.Name), f.savedMode()), f.ID[:]...))
		}
	}
	if !sameDirs {
		b = binary.AppendUvarint(b, uint64(len(d.Dirs)))
		for _, child := range d.Dirs {
			b = saveString(b, child.Name)
		}
	}
	for _, child := range d.Dirs {
		b = w.state(b, child, index.subdir(child.Name))
	}
	return b
}

func (l *listing) bits() (bits byte) {
	set := func(bit byte, is bool) {
		if is {
			bits |= bit
		}
	}
	set(savedGit, l.hasGit)
	set(savedIgnore, l.hasIgnore)
	set(savedAttributes, l.hasAttributes)
	return bits
}

func (d *Dir) sameFiles(index *Dir) bool {
	return index != nil && (d.files.shares(&index.files) ||
		slices.EqualFunc(d.Files(), index.Files(), func(a, b File) bool { return a.like(&b) }))
}

func (d *Dir) sameDirs(index *Dir) bool {
	return index != nil && slices.EqualFunc(d.Dirs, index.Dirs, func(a, b *Dir) bool { return a.Name == b.Name })
}

// savedModeCount is how many modes of files there are.
const savedModeCount = 4

// savedModes are the modes of files in the order of their numbers.
func savedModes() [savedModeCount]uint32 { return [...]uint32{Regular, Executable, Symlink, Gitlink} }

// savedMode returns the mode and the trust.
func (f *File) savedMode() byte {
	modes := savedModes()
	return byte(slices.Index(modes[:], f.Mode)) | byte(f.trust)<<4
}

func (s Stat) save(b []byte) []byte {
	for _, n := range [...]uint64{uint64(s.Size), uint64(s.Modified), uint64(s.Changed), s.Inode} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	return b
}

func saveString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// Saves reports whether saving the state would make what Saved made saved from,
// with the same index.
func (d *Dir) Saves(saved, index *Dir) bool {
	if d == saved {
		return true
	}
	if saved == nil || d.listing != saved.listing || len(d.Dirs) != len(saved.Dirs) || !d.savesFiles(saved, index) {
		return false
	}
	for i, child := range d.Dirs {
		if child == saved.Dirs[i] { // as most are
			continue
		}
		if child.Name != saved.Dirs[i].Name || !child.Saves(saved.Dirs[i], index.subdir(child.Name)) {
			return false
		}
	}
	return true
}

// savesFiles is Saves of the files in the directory itself.
func (d *Dir) savesFiles(saved, index *Dir) bool {
	if d.files.shares(&saved.files) {
		return true
	}
	tracked := cursor(index.Files())
	return slices.EqualFunc(d.Files(), saved.Files(), func(f, before File) bool {
		if t := tracked.find(f.Name); t == nil || t.ID != f.ID {
			f.trust = before.trust // Saved makes it doubtful
		}
		return f == before
	})
}
