package scan

import "io/fs"

// An entry is a name in a directory with what the directory says of it: an
// executable file is regular here.
type entry struct {
	name string
	kind kind
}

// A scratch is memory that visits use one after the other.
type scratch struct {
	dirents, names []byte
	ends           []int // of the names
	entries        []entry
	files, dirs    []string
	content        []byte // of a file or a tree object
}

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
