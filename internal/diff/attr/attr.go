// Package attr tells how git converts a file on its way into the repository.
//
// It reads gitattributes(5) for the paths it is asked about, no others.
package attr

import (
	"io/fs"
	"path/filepath"
	"strings"
	"sync"

	"codeloops/internal/diff/repo/file"
)

// Options say where attributes are defined.
type Options struct {
	WorkTree   string // absolute path
	System     string // path of the installation's file; "" or missing: none
	User       string // path of the user's file; "" or missing: none
	Info       string // path of the repository's own file; "" or missing: none
	IgnoreCase bool   // core.ignoreCase

	// FromIndex returns the content of a tracked .gitattributes file, given
	// its path from the root; git falls back on it where the work tree has no
	// such file. It must not ask the Reader. May be nil.
	FromIndex func(path string) ([]byte, bool)
}

// A State says whether an attribute is given to a path.
type State uint8

// The states of an attribute.
const (
	Unspecified State = iota
	Set
	Unset
	Valued
)

// A Value is the state of an attribute, with its text when it is Valued.
type Value struct {
	State State
	Text  string
}

// Attrs are the attributes of one path that bear on its conversion.
type Attrs struct {
	Text     Value
	CRLF     Value // the old name of Text
	EOL      Value
	Ident    Value
	Filter   Value
	Encoding Value // working-tree-encoding
}

// A Reader answers for the paths of one work tree. It keeps what it has read for
// a path: make a new one when the files may have changed. It is safe for concurrent
// use.
type Reader struct {
	o Options

	mu   sync.Mutex
	dirs map[string]*Dir // by path
}

// New returns a Reader. Files are read when a path needs them.
func New(o Options) *Reader {
	return &Reader{o: o, dirs: make(map[string]*Dir)}
}

// All returns every attribute of path (slash-separated, from the root) that is
// not unspecified, by name.
func (r *Reader) All(path string) map[string]Value {
	dir, name := r.above(path)
	values := dir.resolve(name)
	for name, v := range values {
		if v.State == Unspecified {
			delete(values, name)
		}
	}
	return values
}

// Of returns the attributes of path (slash-separated, from the root) that bear
// on its conversion.
func (r *Reader) Of(path string) Attrs {
	dir, name := r.above(path)
	return dir.Of(name)
}

// above returns the directory of a path, and the name in it.
func (r *Reader) above(path string) (dir *Dir, name string) {
	end := strings.LastIndexByte(path, '/') + 1
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.dir(path[:end]), path[end:]
}

// dir returns a directory by its path, "" or one with a slash behind.
func (r *Reader) dir(path string) *Dir {
	if d, ok := r.dirs[path]; ok {
		return d
	}
	var d *Dir
	if path == "" {
		d = r.Root(true)
	} else {
		end := strings.LastIndexByte(path[:len(path)-1], '/') + 1
		d = r.dir(path[:end]).Sub(path[end:len(path)-1], true)
	}
	r.dirs[path] = d
	return d
}

// readOutside returns the definitions in a file outside the work tree.
func readOutside(path string) *definitions {
	if path == "" {
		return &definitions{}
	}
	text, _ := read(path, file.How{Max: maxFile})
	return parse(text, true)
}

// read returns the content of a file without a byte order mark, which git
// tolerates in files though not in the index.
func read(path string, how file.How) (string, error) {
	data, _, err := file.Read(path, how)
	return strings.TrimPrefix(string(data), "\ufeff"), err
}

// inside returns the definitions in a directory of the work tree, "" or one
// with a slash behind.
func (r *Reader) inside(dir string, mayHaveFile bool) *definitions {
	name := dir + fileName
	text, err := "", fs.ErrNotExist
	if mayHaveFile {
		path := filepath.Join(r.o.WorkTree, filepath.FromSlash(name))
		text, err = read(path, file.How{NoFollow: true, Max: maxFile})
	}
	if err != nil && r.o.FromIndex != nil {
		data, _ := r.o.FromIndex(name)
		text = string(data)
	}
	if text == "" {
		return &definitions{}
	}
	return parse(text, dir == "")
}
