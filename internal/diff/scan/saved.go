package scan

import (
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/go-git/go-git/v5/plumbing"
)

// ErrSaved is a saved form that is cut short or was not made by [Saved.Append].
var ErrSaved = errors.New("bad saved state")

// maxSavedDepth bounds how deep directories may be in each other: no path of an
// operating system is deeper.
const maxSavedDepth = 5000

// ReadSaved reads the saved form, of which size bytes are in r. Of data that was
// not made by [Saved.Append] it is [ErrSaved], or trees of names that a work tree
// can have. The ids of directories are taken as they are.
func ReadSaved(r io.ReaderAt, size int64) (Saved, error) {
	data := make([]byte, size)
	if !readAt(r, data) {
		return Saved{}, ErrSaved
	}
	x := savedIndex{}
	rest, ok := x.read(data)
	if !ok {
		return Saved{}, ErrSaved
	}
	var index *Dir
	if len(x.dirs) > 0 {
		index = &x.dirs[0]
	}
	state := savedReader{rest: rest}
	root := state.dir("", index, 0)
	if state.bad || len(state.rest) > 0 {
		return Saved{}, ErrSaved
	}
	return Saved{Index: index, State: root}, nil
}

// readAt reads data in parallel: most of what it takes is to give it memory. Other
// processors take longer to begin with a small part than to read it takes.
func readAt(r io.ReaderAt, data []byte) bool {
	var (
		short   atomic.Bool
		workers sync.WaitGroup
	)
	const least = 1 << 20 // bytes
	size := max(len(data)/runtime.GOMAXPROCS(0)+1, least)
	read := func(at int) {
		part := data[at:min(at+size, len(data))]
		if n, _ := r.ReadAt(part, int64(at)); n < len(part) {
			short.Store(true)
		}
	}
	for at := size; at < len(data); at += size {
		workers.Go(func() { read(at) })
	}
	read(0)
	workers.Wait()
	return !short.Load()
}

// A savedReader takes saved data apart. After the first error it is bad, and
// all that it returns is zero.
type savedReader struct {
	rest []byte
	bad  bool
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

// dir reads a directory of the state.
func (r *savedReader) dir(name string, index *Dir, depth int) *Dir {
	bits := r.byte()
	if bits&(savedSame|savedSameFiles|savedSameDirs) != 0 && index == nil || depth > maxSavedDepth {
		r.bad = true
	}
	if r.bad || bits&savedSame != 0 {
		return index
	}
	d := &Dir{Name: name}
	d.listing.setBits(bits)
	if b := r.take(uint64(len(d.id) + savedStatSize)); b != nil {
		d.id, d.sealed = plumbing.Hash(b), true
		d.listing.stat = savedStatOf(b[len(d.id):])
	}
	d.listing.others = r.others()
	if bits&savedSameFiles != 0 {
		d.files = index.files
	} else {
		d.files = listOf(r.files(index))
	}
	if bits&savedSameDirs != 0 && !r.bad {
		d.Dirs = make([]*Dir, 0, len(index.Dirs))
		for _, child := range index.Dirs {
			d.Dirs = append(d.Dirs, r.dir(child.Name, child, depth+1))
		}
	} else {
		for _, name := range r.dirNames() {
			d.Dirs = append(d.Dirs, r.dir(name, index.subdir(name), depth+1))
		}
	}
	d.empty = !r.bad && d.files.len() == 0 && !slices.ContainsFunc(d.Dirs, func(d *Dir) bool { return !d.empty })
	return d
}

// dirNames reads the names of the subdirectories.
func (r *savedReader) dirNames() []string {
	names := make([]string, r.count(1))
	for i := range names {
		names[i] = r.name()
		r.bad = r.bad || i > 0 && order(names[i-1], true, names[i], true) >= 0
	}
	return names
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
	tracked := cursor(index.Files())
	files := make([]File, r.count(savedLeast))
	for i := range files {
		f := &files[i]
		f.Name = r.name()
		b := r.take(1 + savedIDSize + savedStatSize)
		r.bad = r.bad || !soundMode(b[0]) || i > 0 && files[i-1].Name >= f.Name
		if r.bad {
			return nil
		}
		f.setMode(b[0])
		f.ID, f.stat = plumbing.Hash(b[1:]), savedStatOf(b[1+savedIDSize:])
		if t := tracked.find(f.Name); t == nil || t.ID != f.ID {
			f.trust = doubtful
		}
	}
	return files
}

// setMode sets what savedMode has returned.
func (f *File) setMode(b byte) { f.trust, f.Mode = trust(b>>4), savedModes()[b&0xf] }

// soundMode reports whether savedMode may have returned b.
func soundMode(b byte) bool {
	return trust(b>>4) <= fromIndex && b&0xf < savedModeCount
}

func savedStatOf(b []byte) Stat {
	b = b[:savedStatSize]
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(b[i*8:]) }
	return Stat{Size: int64(word(0)), Modified: int64(word(1)), Changed: int64(word(2)), Inode: word(3)}
}
