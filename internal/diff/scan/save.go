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
// The form begins with how many pieces there are, the CRC-32 of the table of
// them, and the table: the size of each, its CRC-32, and how many directories are
// in it. All but the last hold the directories of the index, the root first, then
// those in the first directory, those in the second, and so on. The last one is the
// state: what [saver.state] appends. All numbers but those of the state are
// little-endian, of 4 bytes where nothing else is said.
type Saved struct{ Index, State *Dir }

// A piece is so small that the memory for it stays in the processor's cache, and
// that there are enough of them for several goroutines. It holds how many files
// it has and how many bytes of names, the names of the files and the directories,
// and the records of both.
const savedPiece = 32 << 10 // bytes; it ends with the directory that goes beyond it

// Sizes in bytes.
const (
	savedRow      = 3 * 4 // of the table
	savedNameEnd  = 4     // where a name ends within those of the piece: each begins where the one before ends
	savedStatSize = 4 * 8
	savedFileSize = savedNameEnd + 1 + 20 + savedStatSize         // …, mode and trust, id, stat
	savedDirSize  = savedNameEnd + 4 + 4 + 1 + 20 + savedStatSize // …, files, directories, bits, id, stat
	savedLeast    = savedFileSize - savedNameEnd + 2              // of a file with its name, of one byte, before it
)

// Bits of what stands before a directory.
const (
	savedGit        = 1 << iota // listing.hasGit
	savedIgnore                 // listing.hasIgnore
	savedAttributes             // listing.hasAttributes
	savedSameFiles              // the files are those of the index
	savedSameDirs               // the subdirectories have the names of those of the index
	savedSame                   // it is that of the index; nothing follows
)

// Append appends the saved form to b.
func (s Saved) Append(b []byte) []byte {
	w := saver{agreed: make(map[*Dir]*Dir)}
	w.agree(s.State, s.Index)
	pieces, size := w.pieces(s.Index)
	head := len(b)
	table := head + 2*4
	rows := len(pieces) + 1
	b = append(slices.Grow(b, size+size/8), make([]byte, 2*4+rows*savedRow)...)
	for i := range rows {
		from, dirs := len(b), 0
		if i < len(pieces) {
			dirs = len(pieces[i])
			b = appendPiece(b, pieces[i])
		} else {
			b = w.state(b, s.State, s.Index)
		}
		row := b[table+i*savedRow:]
		binary.LittleEndian.PutUint32(row, uint32(len(b)-from))
		binary.LittleEndian.PutUint32(row[4:], crc32.ChecksumIEEE(b[from:]))
		binary.LittleEndian.PutUint32(row[8:], uint32(dirs))
	}
	binary.LittleEndian.PutUint32(b[head:], uint32(rows))
	binary.LittleEndian.PutUint32(b[head+4:], crc32.ChecksumIEEE(b[table:table+rows*savedRow]))
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
		slices.EqualFunc(d.Files, index.Files, func(a, b File) bool { return a.standsFor(&b) })
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

// pieces returns the directories of the index, breadth first, by the pieces that
// they are in, and how many bytes these have.
func (w *saver) pieces(index *Dir) (pieces [][]*Dir, size int) {
	var dirs []*Dir
	if index != nil {
		dirs = append(dirs, index)
	}
	from, begun := 0, 0
	for i := 0; i < len(dirs); i++ {
		if d := w.agreed[dirs[i]]; d != nil {
			dirs[i] = d
		}
		d := dirs[i]
		dirs = append(dirs, d.Dirs...)
		size += savedDirSize + len(d.Name) + len(d.Files)*savedFileSize
		for j := range d.Files {
			size += len(d.Files[j].Name)
		}
		if size-begun >= savedPiece || i == len(dirs)-1 {
			pieces = append(pieces, dirs[from:i+1:i+1])
			from, begun = i+1, size
		}
	}
	return pieces, size
}

func appendPiece(b []byte, dirs []*Dir) []byte {
	at, files := len(b), 0
	b = append(b, make([]byte, 2*4)...)
	for _, d := range dirs {
		files += len(d.Files)
		for i := range d.Files {
			b = append(b, d.Files[i].Name...)
		}
	}
	for _, d := range dirs {
		b = append(b, d.Name...)
	}
	binary.LittleEndian.PutUint32(b[at:], uint32(files))
	binary.LittleEndian.PutUint32(b[at+4:], uint32(len(b)-at-2*4))
	end := uint32(0)
	number := func(n int) { b = binary.LittleEndian.AppendUint32(b, uint32(n)) }
	name := func(name string) {
		end += uint32(len(name))
		number(int(end))
	}
	for _, d := range dirs {
		for i := range d.Files {
			name(d.Files[i].Name)
			b = d.Files[i].save(b)
		}
	}
	for _, d := range dirs {
		name(d.Name)
		number(len(d.Files))
		number(len(d.Dirs))
		b = append(append(b, d.listing.bits()), d.id[:]...)
		b = d.listing.stat.save(b)
	}
	return b
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
		b = binary.AppendUvarint(b, uint64(len(d.Files)))
		for i := range d.Files {
			b = d.Files[i].save(saveString(b, d.Files[i].Name))
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
	return index != nil && (d.sharesFiles(index) ||
		slices.EqualFunc(d.Files, index.Files, func(a, b File) bool { return a.like(&b) }))
}

func (d *Dir) sameDirs(index *Dir) bool {
	return index != nil && slices.EqualFunc(d.Dirs, index.Dirs, func(a, b *Dir) bool { return a.Name == b.Name })
}

// savedModes are the modes of files in the order of their numbers.
func savedModes() [4]uint32 { return [...]uint32{Regular, Executable, Symlink, Gitlink} }

// save appends all but the name.
func (f *File) save(b []byte) []byte {
	modes := savedModes()
	b = append(b, byte(slices.Index(modes[:], f.Mode))|byte(f.trust)<<4)
	b = append(b, f.ID[:]...)
	return f.stat.save(b)
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
	if saved == nil || d.listing != saved.listing || len(d.Files) != len(saved.Files) || len(d.Dirs) != len(saved.Dirs) {
		return false
	}
	for i, f := range d.Files {
		if tracked := index.file(f.Name); tracked == nil || tracked.ID != f.ID {
			f.trust = saved.Files[i].trust // Saved makes it doubtful
		}
		if f != saved.Files[i] {
			return false
		}
	}
	for i, child := range d.Dirs {
		if child.Name != saved.Dirs[i].Name || !child.Saves(saved.Dirs[i], index.subdir(child.Name)) {
			return false
		}
	}
	return true
}
