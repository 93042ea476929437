package scan

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
