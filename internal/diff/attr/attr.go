// Package attr tells how git converts a file on its way into the repository.
//
// It reads gitattributes(5) for the paths it is asked about, no others.
package attr

import (
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
	dirs map[string]*dir // by path
}

// New returns a Reader. Files are read when a path needs them.
func New(o Options) *Reader {
	return &Reader{o: o, dirs: make(map[string]*dir)}
}

// Of returns the attributes of path (slash-separated, from the root) that bear
// on its conversion.
func (r *Reader) Of(path string) Attrs {
	dir, name := r.above(path)
	if len(dir.above)+len(dir.below)+len(dir.layers) == 0 {
		return Attrs{}
	}
	values := dir.resolve(name)
	return Attrs{
		Text:     values["text"],
		CRLF:     values["crlf"],
		EOL:      values["eol"],
		Ident:    values["ident"],
		Filter:   values["filter"],
		Encoding: values["working-tree-encoding"],
	}
}

// Outside reports whether files outside the work tree define any.
func (r *Reader) Outside() bool {
	root, _ := r.above("")
	return len(root.above)+len(root.below) > 0
}

// above returns the directory of a path, and the name in it.
func (r *Reader) above(path string) (d *dir, name string) {
	end := strings.LastIndexByte(path, '/') + 1
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.dir(path[:end]), path[end:]
}

// dir returns a directory by its path, "" or one with a slash behind.
func (r *Reader) dir(path string) *dir {
	if d, ok := r.dirs[path]; ok {
		return d
	}
	var d *dir
	if path == "" {
		d = r.root()
	} else {
		end := strings.LastIndexByte(path[:len(path)-1], '/') + 1
		d = r.dir(path[:end]).sub(path[end : len(path)-1])
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
func (r *Reader) inside(dir string) *definitions {
	name := dir + fileName
	text, err := read(filepath.Join(r.o.WorkTree, filepath.FromSlash(name)), file.How{NoFollow: true, Max: maxFile})
	if err != nil && r.o.FromIndex != nil {
		data, _ := r.o.FromIndex(name)
		text = string(data)
	}
	if text == "" {
		return &definitions{}
	}
	return parse(text, dir == "")
}
