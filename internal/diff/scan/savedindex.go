package scan

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"math"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/go-git/go-git/v5/plumbing"
)

// A savedIndex is the tracked files while they are read.
type savedIndex struct {
	file   io.ReaderAt
	pieces []piece
	dirs   []Dir // of all pieces
	below  []int // how many directories are in each
}

// A piece is a row of the table.
type piece struct {
	at   int64 // in the file
	size int
	sum  uint32
	dirs int // so many are in it
	from int // so many are in those before
}

// readTable reads the table, after which there is room for the directories.
func (x *savedIndex) readTable(size int64) bool {
	var head [2 * 4]byte
	if !readFull(x.file, head[:], 0) {
		return false
	}
	count, left := word(head[:]), size-int64(len(head))
	if int64(count) > left/savedRow || count == 0 {
		return false
	}
	table := make([]byte, count*savedRow)
	if !readFull(x.file, table, int64(len(head))) || crc32.ChecksumIEEE(table) != binary.LittleEndian.Uint32(head[4:]) {
		return false
	}
	left -= int64(len(table))
	x.pieces = make([]piece, count)
	dirs := 0
	for i := range x.pieces {
		row := table[i*savedRow:]
		p := piece{at: size - left, size: word(row), sum: binary.LittleEndian.Uint32(row[4:]), dirs: word(row[8:]), from: dirs}
		if int64(p.size) > left || p.dirs > p.size/savedDirSize {
			return false
		}
		left -= int64(p.size)
		dirs += p.dirs
		x.pieces[i] = p
	}
	x.dirs, x.below = make([]Dir, dirs), make([]int, dirs)
	return left == 0 && x.pieces[count-1].dirs == 0
}

// readPieces reads the pieces of the index in parallel.
func (x *savedIndex) readPieces() bool {
	var (
		next    atomic.Int64
		bad     atomic.Bool
		workers sync.WaitGroup
	)
	pieces := x.pieces[:len(x.pieces)-1]
	for range min(len(pieces), runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			buffer := make([]byte, savedPiece+savedPiece/2)
			for i := int(next.Add(1)) - 1; i < len(pieces) && !bad.Load(); i = int(next.Add(1)) - 1 {
				ok := false
				if buffer, ok = pieces[i].read(x.file, buffer); !ok || !x.take(pieces[i], buffer) {
					bad.Store(true)
				}
			}
		})
	}
	workers.Wait()
	return !bad.Load()
}

// read returns the data of a piece, in the memory of buffer if that is large
// enough.
func (p *piece) read(file io.ReaderAt, buffer []byte) (data []byte, ok bool) {
	if cap(buffer) < p.size {
		buffer = make([]byte, p.size)
	}
	data = buffer[:p.size]
	return data, readFull(file, data, p.at) && crc32.ChecksumIEEE(data) == p.sum
}

func readFull(file io.ReaderAt, b []byte, at int64) bool {
	n, _ := file.ReadAt(b, at)
	return n == len(b)
}

// take makes the directories of a piece, but for what is below them.
func (x *savedIndex) take(p piece, data []byte) bool {
	const head = 2 * 4
	if len(data) < head {
		return false
	}
	files, names := word(data), word(data[4:])
	if int64(head)+int64(names)+int64(files)*savedFileSize+int64(p.dirs)*savedDirSize != int64(len(data)) {
		return false
	}
	r := recordReader{names: string(data[head : head+names]), data: data[head+names:]}
	if strings.IndexByte(r.names, '/') >= 0 || strings.IndexByte(r.names, 0) >= 0 {
		return false
	}
	records := r.data[files*savedFileSize:]
	all := make([]File, files)
	dirs, below := x.dirs[p.from:p.from+p.dirs], x.below[p.from:p.from+p.dirs]
	for i := range dirs {
		own := word(records[i*savedDirSize+savedNameEnd:])
		if own > len(all) || !r.files(all[:own]) {
			return false
		}
		dirs[i].Files, all = all[:own:own], all[own:]
	}
	for i := range dirs {
		if !r.dir(&dirs[i], &below[i], p.from+i == 0) {
			return false
		}
	}
	return len(all) == 0 && r.name == len(r.names)
}

// link puts the directories below each other. It reports whether all are below
// one that comes before.
func (x *savedIndex) link() bool {
	if len(x.dirs) == 0 {
		return true
	}
	all := make([]*Dir, len(x.dirs))
	for i := range all {
		all[i] = &x.dirs[i]
	}
	end := 1 // of those that are below the directories so far
	levelEnd, depth := 1, 0
	for i := range all {
		if i == levelEnd {
			levelEnd, depth = end, depth+1
		}
		own, d := x.below[i], all[i]
		if i >= end || own > len(all)-end || own == 0 && len(d.Files) == 0 || depth > maxSavedDepth {
			return false
		}
		d.Dirs = all[end : end+own : end+own]
		end += own
		for j := 1; j < own; j++ {
			if order(d.Dirs[j-1].Name, true, d.Dirs[j].Name, true) >= 0 {
				return false
			}
		}
	}
	return end == len(all)
}

// A recordReader reads the records of a piece, one after the other.
type recordReader struct {
	names string
	name  int // where the next one begins
	data  []byte
}

// next returns the name of the next record and what follows it there. It reports
// false when a work tree cannot have the name.
func (r *recordReader) next(size int) (name string, data []byte, ok bool) {
	data, r.data = r.data[:size], r.data[size:]
	end := word(data)
	if end < r.name || end > len(r.names) {
		return "", nil, false
	}
	name, r.name = r.names[r.name:end], end
	return name, data[savedNameEnd:], true
}

// files reads the files of one directory.
func (r *recordReader) files(files []File) bool {
	before := ""
	for i := range files {
		name, data, ok := r.next(savedFileSize)
		if !ok || name <= before || !soundSaved(name) || !files[i].read(data) {
			return false
		}
		files[i].Name, before = name, name
	}
	return true
}

// dir reads a directory, and how many are below it.
func (r *recordReader) dir(d *Dir, below *int, root bool) bool {
	name, data, ok := r.next(savedDirSize)
	if !ok || root != (name == "") || !root && !soundSaved(name) {
		return false
	}
	d.Name, *below = name, word(data[4:])
	d.listing.setBits(data[8])
	d.id, d.sealed = plumbing.Hash(data[9:]), true
	d.listing.stat = savedStatOf(data[9+len(d.id):])
	return true
}

// soundSaved reports whether a name without a slash is one that a work tree can
// have.
func soundSaved(name string) bool {
	if filepath.Separator != '/' && !filepath.IsLocal(name) {
		return false
	}
	return name != "" && (name[0] != '.' || name != "." && name != ".." && !strings.EqualFold(name, ".git"))
}

// word returns a number that is not below zero, whatever an int can hold.
func word(b []byte) int { return int(min(binary.LittleEndian.Uint32(b), math.MaxInt32)) }

func (l *listing) setBits(bits byte) {
	l.hasGit, l.hasIgnore, l.hasAttributes = bits&savedGit != 0, bits&savedIgnore != 0, bits&savedAttributes != 0
}
