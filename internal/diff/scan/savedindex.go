package scan

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"strings"
	"unsafe"

	"github.com/go-git/go-git/v5/plumbing"
)

// A savedIndex is the tracked files while they are read.
type savedIndex struct {
	records savedRecords
	files   []savedFiles // of each directory
	dirs    []Dir        // the root first
	below   []int        // how many directories are in each
}

// readIndex reads the directories of the index from the beginning of the saved
// form, and returns what follows them. It reports false of what is damaged.
func (x *savedIndex) read(data []byte) (rest []byte, ok bool) {
	if len(data) < savedHead || crc32.ChecksumIEEE(data[4:]) != binary.LittleEndian.Uint32(data) {
		return nil, false
	}
	files, dirs, names, records := word(data[4:]), word(data[8:]), word(data[12:]), word(data[16:])
	data = data[savedHead:]
	if int64(names)+int64(files)*savedIDSize+int64(records)+int64(dirs)*savedDirSize > int64(len(data)) {
		return nil, false
	}
	// The data is never written again, and kept for the records anyway.
	x.records.names = unsafe.String(unsafe.SliceData(data), names) //nolint:gosec // see above
	data = data[names:]
	x.records.ids, data = data[:files*savedIDSize], data[files*savedIDSize:]
	x.records.records, data = data[:records], data[records:]
	if strings.IndexByte(x.records.names, '/') >= 0 || strings.IndexByte(x.records.names, 0) >= 0 {
		return nil, false
	}
	x.files, x.dirs, x.below = make([]savedFiles, dirs), make([]Dir, dirs), make([]int, dirs)
	rest = data[dirs*savedDirSize:]
	return rest, x.readDirs(data, files) && x.link()
}

// readDirs reads the records of the directories, which have so many files.
func (x *savedIndex) readDirs(data []byte, files int) bool {
	all := &x.records
	names, from, at := 0, 0, 0
	for i := range x.dirs {
		d, own, record := &x.dirs[i], &x.files[i], data[i*savedDirSize:(i+1)*savedDirSize]
		name, count, bits := word(record), word(record[4:]), record[12]
		if name > len(all.names)-names || i == 0 != (name == 0) || count > files-from || savedSize(count, bits&savedShort != 0) > len(all.records)-at {
			return false
		}
		d.Name, names = all.names[names:names+name], names+name
		*own = savedFiles{
			in: all, from: uint32(from), count: uint32(count), names: uint32(names),
			records: uint32(at), short: bits&savedShort != 0,
		}
		var ok bool
		if names, ok = own.sound(); !ok || i > 0 && !soundSaved(d.Name) {
			return false
		}
		d.files.saved, x.below[i] = own, word(record[8:])
		d.listing.setBits(bits)
		d.id, d.sealed = plumbing.Hash(record[13:]), true
		d.listing.stat = savedStatOf(record[13+savedIDSize:])
		from, at = from+count, at+savedSize(count, own.short)
	}
	return from == files && names == len(all.names) && at == len(all.records)
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
		if i >= end || own > len(all)-end || own == 0 && d.files.len() == 0 || depth > maxSavedDepth {
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

// word returns a number that is not below zero, whatever an int can hold.
func word(b []byte) int { return int(min(binary.LittleEndian.Uint32(b), math.MaxInt32)) }

func (l *listing) setBits(bits byte) {
	l.hasGit, l.hasIgnore, l.hasAttributes = bits&savedGit != 0, bits&savedIgnore != 0, bits&savedAttributes != 0
}
