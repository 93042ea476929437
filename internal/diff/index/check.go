package index

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"path/filepath"
	"strings"
)

// check refuses paths that lead out of the work tree or into the repository,
// and entries out of order. A repository may have been made to hurt: git never
// writes either.
//
// It looks only at the part of a path that differs from the one before, which
// makes it three times as fast.
func (d *decoder) check() error {
	var before []byte
	rest := d.paths
	for i := range d.entries {
		e := &d.entries[i]
		size := len(e.Path)
		path := rest[1 : 1+size]
		rest = rest[1+size:]
		if size == 0 && d.link != nil {
			continue // the shared index has the path
		}
		if err := checkEntry(before, path, i > 0 && d.link == nil, i > 0 && d.entries[i-1].Stage < e.Stage); err != nil {
			return err
		}
		before = path
	}
	return nil
}

// checkEntry checks one path, and if it is to be in order, that it comes after
// the one before; the same one must be at a later stage.
func checkEntry(before, path []byte, ordered, later bool) error {
	same := commonPrefix(before, path)
	from := bytes.LastIndexByte(path[:same], '/') + 1
	if !safe(path[from:]) || filepath.Separator != '/' && !filepath.IsLocal(string(path)) {
		return corrupt("unsafe path %q", path)
	}
	if ordered && !inOrder(before, path, same) && !(later && bytes.Equal(before, path)) {
		return corrupt("%q is out of order", path)
	}
	return nil
}

// inOrder reports whether a, which has its first same bytes in common with b
// and no more, sorts before b. It is false for equal paths.
func inOrder(a, b []byte, same int) bool {
	return same < len(b) && (same == len(a) || a[same] < b[same])
}

// commonPrefix returns how many bytes a and b begin with alike.
func commonPrefix(a, b []byte) int {
	n := 0
	for len(a)-n >= 8 && len(b)-n >= 8 {
		if diff := binary.LittleEndian.Uint64(a[n:]) ^ binary.LittleEndian.Uint64(b[n:]); diff != 0 {
			return n + bits.TrailingZeros64(diff)/8
		}
		n += 8
	}
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// safe reports whether path may be joined to the work tree's root.
func safe(path []byte) bool {
	for {
		end := bytes.IndexByte(path, '/')
		if end < 0 {
			return safeName(path)
		}
		if !safeName(path[:end]) {
			return false
		}
		path = path[end+1:]
	}
}

func safeName(name []byte) bool {
	switch {
	case len(name) == 0:
		return false
	case name[0] != '.':
		return true
	default:
		rest := string(name[1:])
		return rest != "" && rest != "." && !strings.EqualFold(rest, "git")
	}
}
