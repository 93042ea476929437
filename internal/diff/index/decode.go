package index

import (
	"bytes"
	"encoding/binary"
	"unsafe"
)

// Sizes in bytes, by gitformat-index(5).
const (
	headerSize = 12
	fixedSize  = 62 // of an entry before its path
	hashSize   = 20
)

// Bits of an entry's flags, and of its extended flags.
const (
	bitAssumeValid = 0x8000
	bitExtended    = 0x4000
	bitsStage      = 0x3000
	bitsNameLen    = 0x0fff

	bitSkipWorktree = 0x4000
	bitIntentToAdd  = 0x2000
)

// maxSpread is how much longer the paths of version 4 may be than the file
// that packs them: far above any real tree, far below what fills the memory.
const maxSpread = 64

// A decoder holds one index file while it is taken apart.
type decoder struct {
	version uint32
	entries []Entry
	trees   []Tree
	trailer ID
	link    *link  // of a split index
	paths   []byte // of the entries so far, each behind a slash
	limit   int    // of the length of paths
}

// decode takes an index file apart.
func decode(data []byte) (*decoder, error) {
	if len(data) < headerSize+hashSize {
		return nil, corrupt("no index file")
	}
	d := &decoder{}
	count, err := d.header(data)
	if err != nil {
		return nil, err
	}
	body := data[headerSize : len(data)-hashSize]
	d.trailer = ID(data[len(data)-hashSize:])
	rest, err := d.readEntries(body, count)
	if err != nil {
		return nil, err
	}
	if err := d.readExtensions(rest); err != nil {
		return nil, err
	}
	return d, d.check()
}

// header reads what the file begins with, and returns how many entries it has.
func (d *decoder) header(data []byte) (count uint32, err error) {
	if string(data[:4]) != "DIRC" {
		return 0, corrupt("no index file")
	}
	if d.version = binary.BigEndian.Uint32(data[4:]); d.version < 2 || d.version > 4 {
		return 0, corrupt("version %d", d.version)
	}
	return binary.BigEndian.Uint32(data[8:]), nil
}

// readEntries decodes count entries and returns what follows them. The paths
// are gathered in one buffer and cut from one string: a large index does not
// cost an allocation for each.
func (d *decoder) readEntries(body []byte, count uint32) ([]byte, error) {
	if uint64(count)*(fixedSize+1) > uint64(len(body)) {
		return nil, corrupt("%d entries in %d bytes", count, len(body))
	}
	d.limit = maxSpread * (len(body) + 1)
	d.entries = make([]Entry, count)
	ends := make([]int, count)
	d.paths = make([]byte, 0, len(body)-int(count)*fixedSize)
	last := 0 // where the path before begins
	for i := range d.entries {
		size, err := d.readEntry(&d.entries[i], body, last)
		if err != nil {
			return nil, err
		}
		body = body[size:]
		if i > 0 {
			last = ends[i-1]
		}
		ends[i] = len(d.paths)
	}
	// The paths are not changed any more: a copy would be as large as they are.
	all, from := unsafe.String(unsafe.SliceData(d.paths), len(d.paths)), 0 //nolint:gosec // see above
	for i, end := range ends {
		d.entries[i].Path, from = all[from+1:end], end
	}
	return body, nil
}

// readEntry decodes the entry that body begins with and returns its size. Its
// path goes to d.paths.
func (d *decoder) readEntry(e *Entry, body []byte, last int) (size int, err error) {
	if len(body) < fixedSize {
		return 0, corrupt("entry cut short")
	}
	word := func(i int) uint32 { return binary.BigEndian.Uint32(body[4*i:]) }
	e.Ctime = Time{Sec: word(0), Nsec: word(1)}
	e.Mtime = Time{Sec: word(2), Nsec: word(3)}
	e.Dev, e.Ino, e.Mode = word(4), word(5), word(6) // user and group are left out
	e.Size = word(9)
	e.ID = ID(body[40:])
	flags := binary.BigEndian.Uint16(body[60:])
	e.Stage = uint8(flags & bitsStage >> 12)
	if flags&bitAssumeValid != 0 {
		e.Flags |= AssumeValid
	}
	at := fixedSize
	if flags&bitExtended != 0 {
		if d.version < 3 || len(body) < at+2 {
			return 0, corrupt("extended entry")
		}
		if err := e.extend(binary.BigEndian.Uint16(body[at:])); err != nil {
			return 0, err
		}
		at += 2
	}
	return d.readPath(body, at, int(flags&bitsNameLen), last)
}

// extend sets the extended flags.
func (e *Entry) extend(bits uint16) error {
	if bits&bitSkipWorktree != 0 {
		e.Flags |= SkipWorktree
	}
	if bits&bitIntentToAdd != 0 {
		e.Flags |= IntentToAdd
	}
	if bits&^(bitSkipWorktree|bitIntentToAdd) != 0 {
		return corrupt("unknown flags %#x", bits)
	}
	return nil
}

// readPath appends the path at body[at:] to d.paths and returns the size of the
// whole entry. The path is length bytes long, if that is less than its field can
// hold. In version 4 it shares its beginning with the path at d.paths[last:].
func (d *decoder) readPath(body []byte, at, length, last int) (size int, err error) {
	before := d.paths[last:]
	d.paths = append(d.paths, '/')
	if d.version == 4 {
		drop, n := offsetVarint(body[at:])
		at += n
		if n == 0 || drop > max(len(before)-1, 0) {
			return 0, corrupt("path prefix")
		}
		if len(before) > 0 {
			d.paths = append(d.paths, before[1:len(before)-drop]...)
		}
	} else if length < bitsNameLen && at+length < len(body) && body[at+length] == 0 {
		d.paths = append(d.paths, body[at:at+length]...)
		return padded(body, at+length)
	}
	end := bytes.IndexByte(body[at:], 0)
	if end < 0 {
		return 0, corrupt("path without end")
	}
	d.paths = append(d.paths, body[at:at+end]...)
	if d.version == 4 {
		if len(d.paths) > d.limit {
			return 0, corrupt("paths too long")
		}
		return at + end + 1, nil
	}
	return padded(body, at+end)
}

// padded returns the size of an entry whose path ends at end: one to eight
// zeros make it a multiple of eight.
func padded(body []byte, end int) (int, error) {
	size := (end + 8) &^ 7
	if size > len(body) {
		return 0, corrupt("entry cut short")
	}
	return size, nil
}

// offsetVarint decodes a number as in the offsets of gitformat-pack(5) and
// returns how many bytes it takes; 0 when data does not hold it, or one beyond
// the length of any path.
func offsetVarint(data []byte) (value, n int) {
	for i, b := range data[:min(len(data), 4)] {
		if i > 0 {
			value = (value + 1) << 7
		}
		value |= int(b & 0x7f)
		if b&0x80 == 0 {
			return value, i + 1
		}
	}
	return 0, 0
}
