package scan

import "codeloops/internal/diff/store"

// An entry is a name in a directory with what the directory says of it: an
// executable file is regular here.
type entry struct {
	name string
	kind kind
}

// A scratch is memory that the visits of one goroutine use one after the other.
// The names of entries are in it: whatever stays copies them.
type scratch struct {
	dirents, names []byte
	ends           []int // of the names
	entries        []entry
	content        []byte // of a file or a tree object
	dirs           []*Dir
	visits         []*visit // that are over
	tasks          []task   // of one's own, see queue
	one            candidate
	handle         handle // of a directory that needs no visit
	hash           store.Hasher
}

// visit returns a visit to begin with.
func (s *scratch) visit() *visit {
	last := len(s.visits) - 1
	if last < 0 {
		return &visit{}
	}
	v := s.visits[last]
	s.visits = s.visits[:last]
	return v
}

// done takes back a visit that nobody knows any more.
func (s *scratch) done(v *visit) {
	v.reset()
	s.visits = append(s.visits, v)
}
