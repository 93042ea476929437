package index

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// Sizes in bytes, by gitformat-index(5).
const (
	headerSize = 12
	fixedSize  = 62 // of an entry before its path
	hashSize   = 20
)

// Bits of an entry's flags, beside [AssumeValid].
const (
	bitExtended = 0x4000
	bitsStage   = 0x3000
)

// maxSpread is how many times longer than the file the unpacked paths of version 4 may be: far
// above any real tree, far below what fills the memory.
const maxSpread = 64

func decode(data []byte) (*Index, error) {
	if len(data) < headerSize+hashSize || string(data[:4]) != "DIRC" {
		return nil, corrupt("no index file")
	}
	x := &Index{}
	if x.Version = binary.BigEndian.Uint32(data[4:]); x.Version < 2 || x.Version > 4 {
		return nil, corrupt("version %d", x.Version)
	}
	end := len(data) - hashSize
	x.Trailer = plumbing.Hash(data[end:])
	rest, err := x.readEntries(data[headerSize:end], binary.BigEndian.Uint32(data[8:]))
	if err == nil {
		err = readExtensions(rest)
	}
	if err != nil {
		return nil, err
	}
	return x, x.check()
}

// readEntries decodes count entries and returns the rest of body.
func (x *Index) readEntries(body []byte, count uint32) ([]byte, error) {
	if uint64(count)*(fixedSize+1) > uint64(len(body)) {
		return nil, corrupt("%d entries in %d bytes", count, len(body))
	}
	room := maxSpread * (len(body) + 1)
	x.Entries = make([]Entry, count)
	before := ""
	for i := range x.Entries {
		size, err := x.readEntry(&x.Entries[i], body, before)
		if err != nil {
			return nil, err
		}
		body, before = body[size:], x.Entries[i].Path
		if room -= len(before); room < 0 {
			return nil, corrupt("paths too long")
		}
	}
	return body, nil
}

// readEntry decodes the entry at the start of body, after the one with path before, and returns
// its size.
func (x *Index) readEntry(e *Entry, body []byte, before string) (size int, err error) {
	if len(body) < fixedSize {
		return 0, corrupt("entry cut short")
	}
	word := func(i int) uint32 { return binary.BigEndian.Uint32(body[4*i:]) }
	time := func(i int) int64 { return int64(word(i))*1e9 + int64(word(i+1)) }
	e.Ctime, e.Mtime = time(0), time(2)
	e.Dev, e.Ino, e.Mode = word(4), word(5), word(6) // user and group are left out
	e.Size = word(9)
	e.ID = plumbing.Hash(body[40:])
	flags := binary.BigEndian.Uint16(body[60:])
	e.Stage = uint8(flags & bitsStage >> 12)
	e.Flags = Flag(flags) & AssumeValid
	at := fixedSize
	if flags&bitExtended != 0 {
		if x.Version < 3 || len(body) < at+2 {
			return 0, corrupt("extended entry")
		}
		more := Flag(binary.BigEndian.Uint16(body[at:]))
		if more&^(SkipWorktree|IntentToAdd) != 0 {
			return 0, corrupt("unknown flags %#x", more)
		}
		e.Flags |= more
		at += 2
	}
	return x.readPath(e, body, at, before)
}

// readPath decodes the path at body[at:] and returns the size of the whole entry. In version 4 the
// path shares a prefix with the one before.
func (x *Index) readPath(e *Entry, body []byte, at int, before string) (size int, err error) {
	shared := ""
	if x.Version == 4 {
		drop, n := offsetVarint(body[at:])
		if n == 0 || drop > len(before) {
			return 0, corrupt("path prefix")
		}
		at, shared = at+n, before[:len(before)-drop]
	}
	length := bytes.IndexByte(body[at:], 0)
	if length < 0 {
		return 0, corrupt("path without end")
	}
	e.Path = shared + string(body[at:at+length])
	if x.Version == 4 {
		return at + length + 1, nil
	}
	size = (at + length + 8) &^ 7 // padded with one to eight zeros
	if size > len(body) {
		return 0, corrupt("entry cut short")
	}
	return size, nil
}

// offsetVarint decodes a number in the format of offsets in gitformat-pack(5) and returns how many
// bytes it takes. That is 0 if data is too short, or the number is larger than any path is long.
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

// check rejects paths that lead out of the work tree or into the repository, and entries out of
// order. Git never writes either, but an attacker may.
func (x *Index) check() error {
	for i := range x.Entries {
		e := &x.Entries[i]
		if !safe(e.Path) {
			return corrupt("unsafe path %q", e.Path)
		}
		if i > 0 && x.Entries[i-1].compare(e) >= 0 {
			return corrupt("%q is out of order", e.Path)
		}
	}
	return nil
}

// safe reports whether path can be joined to the root of the work tree.
func safe(path string) bool {
	for name := range strings.SplitSeq(path, "/") {
		if name == "" || name == "." || name == ".." || strings.EqualFold(name, ".git") {
			return false
		}
	}
	return filepath.Separator == '/' || filepath.IsLocal(path)
}

// readExtensions checks what follows the entries. Extensions whose name begins with a capital letter
// are optional.
func readExtensions(rest []byte) error {
	for len(rest) > 0 {
		if len(rest) < 8 {
			return corrupt("extension cut short")
		}
		name, size := string(rest[:4]), binary.BigEndian.Uint32(rest[4:])
		rest = rest[8:]
		if uint64(size) > uint64(len(rest)) {
			return corrupt("extension %q cut short", name)
		}
		if name[0] < 'A' || name[0] > 'Z' {
			return fmt.Errorf("%w: %q", ErrExtension, name)
		}
		rest = rest[size:]
	}
	return nil
}
