package scan

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"
)

// ErrSaved is a saved state that is cut short or could not have been saved.
var ErrSaved = errors.New("bad saved state")

// Bits of what stands before a saved directory.
const (
	savedGit        = 1 << iota // listing.hasGit
	savedIgnore                 // listing.hasIgnore
	savedStat                   // listing.stat follows
	savedSameFiles              // the files are those of the index
	savedSameDirs               // the subdirectories have the names of those of the index
	savedAttributes             // listing.hasAttributes
)

// maxSavedDepth bounds how deep directories may be in each other: no path of an
// operating system is deeper.
const maxSavedDepth = 5000

// Save appends a state to b in a form that [Saved] reads. What the state has in
// common with the index is left out.
func (d *Dir) Save(b []byte, index *Dir) []byte {
	b = append(b, d.savedBits(index))
	if d.listing.stat != (Stat{}) {
		b = d.listing.stat.save(b)
	}
	b = saveString(b, d.listing.others)
	if !d.sameFiles(index) {
		b = binary.AppendUvarint(b, uint64(len(d.Files)))
		for i := range d.Files {
			b = d.Files[i].save(b)
		}
	}
	if !d.sameDirs(index) {
		b = binary.AppendUvarint(b, uint64(len(d.Dirs)))
		for _, child := range d.Dirs {
			b = saveString(b, child.Name)
		}
	}
	for _, child := range d.Dirs {
		b = child.Save(b, index.subdir(child.Name))
	}
	return b
}

func (d *Dir) savedBits(index *Dir) (bits byte) {
	set := func(bit byte, is bool) {
		if is {
			bits |= bit
		}
	}
	set(savedGit, d.listing.hasGit)
	set(savedIgnore, d.listing.hasIgnore)
	set(savedAttributes, d.listing.hasAttributes)
	set(savedStat, d.listing.stat != Stat{})
	set(savedSameFiles, d.sameFiles(index))
	set(savedSameDirs, d.sameDirs(index))
	return bits
}

func (d *Dir) sameFiles(index *Dir) bool {
	return index != nil && (d.sharesFiles(index) ||
		slices.EqualFunc(d.Files, index.Files, func(a, b File) bool { return a.like(&b) }))
}

func (d *Dir) sameDirs(index *Dir) bool {
	if index == nil || len(d.Dirs) != len(index.Dirs) {
		return false
	}
	for i, child := range d.Dirs {
		if child.Name != index.Dirs[i].Name {
			return false
		}
	}
	return true
}

func (f *File) save(b []byte) []byte {
	b = saveString(b, f.Name)
	b = binary.LittleEndian.AppendUint32(b, f.Mode)
	b = append(b, f.ID[:]...)
	b = append(b, byte(f.trust))
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

// Saved reads a state that was saved with the same index. Data that was not
// written by [Dir.Save] is [ErrSaved], or a state of names that a work tree can
// have.
func Saved(data []byte, index *Dir) (*Dir, error) {
	r := savedReader{rest: data}
	d := r.dir("", index, 0)
	if r.bad || len(r.rest) > 0 {
		return nil, ErrSaved
	}
	return d, nil
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

// A savedReader takes saved data apart. After the first error it is bad, and
// all that it returns is zero.
type savedReader struct {
	rest    []byte
	bad     bool
	scratch scratch
}

func (r *savedReader) take(n uint64) []byte {
	if r.bad || n > uint64(len(r.rest)) {
		r.bad = true
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *savedReader) byte() byte {
	if b := r.take(1); len(b) == 1 {
		return b[0]
	}
	return 0
}

func (r *savedReader) number() uint64 {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 {
		r.bad = true
		return 0
	}
	r.take(uint64(size))
	return n
}

// count returns how many things of at least size bytes follow.
func (r *savedReader) count(size int) int {
	n := r.number()
	if n > uint64(len(r.rest)/size) {
		r.bad = true
		return 0
	}
	return int(n)
}

func (r *savedReader) string() string { return string(r.take(r.number())) }

func (r *savedReader) stat() Stat {
	const size = 8
	b := r.take(4 * size)
	if b == nil {
		return Stat{}
	}
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(b[i*size:]) }
	return Stat{Size: int64(word(0)), Modified: int64(word(1)), Changed: int64(word(2)), Inode: word(3)}
}

func (r *savedReader) dir(name string, index *Dir, depth int) *Dir {
	d := &Dir{Name: name}
	bits := r.byte()
	if bits&(savedSameFiles|savedSameDirs) != 0 && index == nil || depth > maxSavedDepth {
		r.bad = true
	}
	d.listing.hasGit, d.listing.hasIgnore, d.listing.hasAttributes = bits&savedGit != 0, bits&savedIgnore != 0, bits&savedAttributes != 0
	if bits&savedStat != 0 {
		d.listing.stat = r.stat()
	}
	d.listing.others = r.others()
	switch {
	case r.bad:
		return d
	case bits&savedSameFiles != 0:
		d.Files = index.Files
	default:
		d.Files = r.files(index)
	}
	if bits&savedSameDirs != 0 {
		d.Dirs = make([]*Dir, len(index.Dirs))
		for i, child := range index.Dirs {
			d.Dirs[i] = r.dir(child.Name, child, depth+1)
		}
	} else {
		r.dirs(d, index, depth)
	}
	if !r.bad {
		d.seal(index, &r.scratch)
	}
	return d
}

// dirs reads the subdirectories with their names.
func (r *savedReader) dirs(d, index *Dir, depth int) {
	names := make([]string, r.count(1))
	for i := range names {
		names[i] = r.name()
		r.bad = r.bad || i > 0 && order(names[i-1], true, names[i], true) >= 0
	}
	d.Dirs = make([]*Dir, 0, len(names))
	for _, name := range names {
		if r.bad {
			return
		}
		d.Dirs = append(d.Dirs, r.dir(name, index.subdir(name), depth+1))
	}
}

// name reads what a work tree can have for a name.
func (r *savedReader) name() string {
	f := File{Name: r.string(), Mode: Regular}
	r.bad = r.bad || !f.sound()
	return f.Name
}

// others reads names with a slash behind each.
func (r *savedReader) others() string {
	names := r.string()
	for name := range strings.SplitAfterSeq(names, "/") {
		f := File{Name: strings.TrimSuffix(name, "/"), Mode: Regular}
		r.bad = r.bad || name != "" && (f.Name == name || !f.sound())
	}
	return names
}

// files reads files. What another process has read of those that differ from
// the index may be nowhere by now: they are to be read again.
func (r *savedReader) files(index *Dir) []File {
	tracked := cursor(index.files())
	const leastSize = 1 + 1 + 4 + 20 + 1 + 32 // of a name of one byte
	files := make([]File, r.count(leastSize))
	for i := range files {
		f := &files[i]
		f.Name = r.name()
		if b := r.take(4); b != nil {
			f.Mode = binary.LittleEndian.Uint32(b)
		}
		copy(f.ID[:], r.take(uint64(len(f.ID))))
		f.trust = trust(r.byte())
		f.stat = r.stat()
		r.bad = r.bad || f.trust > fromIndex || !f.isBlob() && f.Mode != Gitlink || i > 0 && files[i-1].Name >= f.Name
		if t := tracked.find(f.Name); t == nil || t.ID != f.ID {
			f.trust = doubtful
		}
	}
	return files
}

func (f *File) isBlob() bool {
	return f.Mode == Regular || f.Mode == Executable || f.Mode == Symlink
}
