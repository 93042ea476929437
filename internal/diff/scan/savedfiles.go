package scan

import (
	"encoding/binary"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/go-git/go-git/v5/plumbing"
)

// In saved form a file is a record: a byte for its mode and trust, the length of its
// name, and its stat. A checkout writes one file after the other, so the records of
// most directories can be short: the size in 4 bytes, how much later than the first
// in the directory the file was modified, how much later than that it was changed, and
// by how much its inode is above the least. The first time and the least inode stand
// in front of the records. Where a number is too large, all are long.
const (
	savedLeastSize = 8 + 8       // time of modification, inode
	savedShortSize = 1 + 1 + 4*4 // mode and trust, length of the name, stat
	savedLongSize  = 1 + 4 + 4*8 // likewise
)

// savedSize returns how many bytes the records of so many files take.
func savedSize(files int, short bool) int {
	if short {
		return savedLeastSize + files*savedShortSize
	}
	return files * savedLongSize
}

// saveFiles appends the records of files.
func saveFiles(b []byte, files []File) (_ []byte, short bool) {
	least, short := shortest(files)
	le := binary.LittleEndian
	if short {
		b = le.AppendUint64(le.AppendUint64(b, uint64(least.Modified)), least.Inode)
	}
	for i := range files {
		f := &files[i]
		b = append(b, f.savedMode())
		if !short {
			b = f.stat.save(le.AppendUint32(b, uint32(len(f.Name))))
			continue
		}
		b = append(b, byte(len(f.Name)))
		for _, n := range f.stat.beyond(least) {
			b = le.AppendUint32(b, uint32(n))
		}
	}
	return b, short
}

// shortest returns what stands in front of short records of files, and whether they
// can be short.
func shortest(files []File) (least Stat, short bool) {
	if len(files) == 0 {
		return Stat{}, false
	}
	least = files[0].stat
	for i := range files {
		s := files[i].stat
		least.Modified, least.Inode = min(least.Modified, s.Modified), min(least.Inode, s.Inode)
	}
	for i := range files {
		beyond := files[i].stat.beyond(least)
		if len(files[i].Name) > math.MaxUint8 || slices.Max(beyond[:]) > math.MaxUint32 {
			return Stat{}, false
		}
	}
	return least, true
}

// beyond returns the numbers of a short record.
func (s Stat) beyond(least Stat) [4]uint64 {
	return [...]uint64{uint64(s.Size), uint64(s.Modified - least.Modified), uint64(s.Changed - s.Modified), s.Inode - least.Inode}
}

// A savedCursor goes through the files of a directory in saved form.
type savedCursor struct {
	names   string
	records []byte
	least   Stat
	short   bool

	at, size   int // of the record of a file
	begin, end int // of its name
}

// next goes to the next file, if there is one.
func (c *savedCursor) next() bool {
	if c.at += c.size; c.at >= len(c.records) {
		return false
	}
	name := int(c.records[c.at+1])
	if !c.short {
		name = word(c.records[c.at+1:])
	}
	c.begin = c.end
	c.end = min(c.begin+name, len(c.names))
	return true
}

func (c *savedCursor) name() string { return c.names[c.begin:c.end] }

func (c *savedCursor) savedMode() byte { return c.records[c.at] }

// file returns the file, but for its id.
func (c *savedCursor) file() (f File) {
	f.Name, f.stat = c.name(), c.stat()
	f.setMode(c.savedMode())
	return f
}

func (c *savedCursor) stat() Stat {
	r := c.records[c.at:]
	if !c.short {
		return savedStatOf(r[5:])
	}
	r = r[:savedShortSize]
	number := func(at int) uint32 { return binary.LittleEndian.Uint32(r[at:]) }
	modified := c.least.Modified + int64(number(6))
	return Stat{Size: int64(number(2)), Modified: modified, Changed: modified + int64(number(10)), Inode: c.least.Inode + uint64(number(14))}
}

// savedFiles are the files of a directory in saved form, which are sound.
type savedFiles struct {
	in      *savedRecords
	from    uint32 // the first of them in the ids
	count   uint32
	names   uint32                 // where theirs begin
	records uint32                 // likewise
	short   bool                   // the records are
	list    atomic.Pointer[[]File] // they, once they have been needed
}

// savedRecords are the files of all directories in saved form.
type savedRecords struct {
	names   string // of each directory, and of the files in it
	ids     []byte
	records []byte
}

// all returns the files. It may be called by several goroutines.
func (s *savedFiles) all() []File {
	if list := s.list.Load(); list != nil {
		return *list
	}
	list, ids := make([]File, 0, s.count), s.in.ids[s.from*savedIDSize:]
	for c := s.each(); c.next(); ids = ids[savedIDSize:] {
		f := c.file()
		f.ID = plumbing.Hash(ids)
		list = append(list, f)
	}
	s.list.CompareAndSwap(nil, &list)
	return *s.list.Load()
}

// each returns the cursor before the first file.
func (s *savedFiles) each() savedCursor {
	c := savedCursor{names: s.in.names, end: int(s.names), short: s.short, size: savedLongSize}
	c.records = s.in.records[s.records:][:savedSize(int(s.count), s.short)]
	if s.short {
		le := binary.LittleEndian
		c.least = Stat{Modified: int64(le.Uint64(c.records)), Inode: le.Uint64(c.records[8:])}
		c.records, c.size = c.records[savedLeastSize:], savedShortSize
	}
	c.at = -c.size
	return c
}

// sound reports whether a work tree can have the files, and returns where their names
// end.
func (s *savedFiles) sound() (end int, ok bool) {
	c, before := s.each(), ""
	for c.next() {
		name := c.name()
		if name <= before || !soundSaved(name) || !soundMode(c.savedMode()) {
			return 0, false
		}
		before = name
	}
	return c.end, true
}

// soundSaved reports whether a name without a slash or a zero is one that a work
// tree can have.
func soundSaved(name string) bool {
	if filepath.Separator != '/' && !filepath.IsLocal(name) {
		return false
	}
	return name != "" && (name[0] != '.' || name != "." && name != ".." && !strings.EqualFold(name, ".git"))
}
