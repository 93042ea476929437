//go:build !linux

package scan

import "io/fs"

// convert takes the entries that the standard library has read.
func (s *scratch) convert(found []fs.DirEntry) []entry {
	s.entries = s.entries[:0]
	for _, e := range found {
		k := other
		switch t := e.Type(); {
		case t.IsDir():
			k = directory
		case t.IsRegular():
			k = regular
		case t&fs.ModeSymlink != 0:
			k = symlink
		}
		s.entries = append(s.entries, entry{name: e.Name(), kind: k})
	}
	return s.entries
}
