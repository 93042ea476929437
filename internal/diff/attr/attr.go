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

// A Reader answers for the paths of one work tree. It keeps the files it has
// read: make a new one when they may have changed. It is safe for concurrent
// use.
type Reader struct {
	o Options

	mu    sync.Mutex
	files map[string]*definitions // by path; of the work tree, from its root
}

// New returns a Reader. Files are read when a path needs them.
func New(o Options) *Reader {
	return &Reader{o: o, files: make(map[string]*definitions)}
}

// All returns every attribute of path (slash-separated, from the root) that is
// not unspecified, by name.
func (r *Reader) All(path string) map[string]Value {
	values := r.resolve(path)
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
	values := r.resolve(path)
	return Attrs{
		Text:     values["text"],
		CRLF:     values["crlf"],
		EOL:      values["eol"],
		Ident:    values["ident"],
		Filter:   values["filter"],
		Encoding: values["working-tree-encoding"],
	}
}

// A layer is the definitions of one file, as they bear on one path.
type layer struct {
	*definitions
	path string // relative to the file's directory
}

// layers returns all definitions that bear on path, the ones that count most
// first.
func (r *Reader) layers(path string) []layer {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := []layer{{r.outside(r.o.Info), path}}
	for dir := path; dir != ""; {
		dir = dir[:strings.LastIndexByte(dir, '/')+1]
		all = append(all, layer{r.inside(dir), path[len(dir):]})
		dir = strings.TrimSuffix(dir, "/")
	}
	return append(all, layer{r.outside(r.o.User), path}, layer{r.outside(r.o.System), path}, layer{builtIn(), path})
}

// outside returns the definitions in a file outside the work tree.
func (r *Reader) outside(path string) *definitions {
	if path == "" {
		return &definitions{}
	}
	// The key cannot be that of a file in the work tree: those are relative.
	if d, ok := r.files[path]; ok {
		return d
	}
	text, _ := read(path, file.How{Max: maxFile})
	d := parse(text, true)
	r.files[path] = d
	return d
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
	if d, ok := r.files[name]; ok {
		return d
	}
	path := filepath.Join(r.o.WorkTree, filepath.FromSlash(name))
	text, err := read(path, file.How{NoFollow: true, Max: maxFile})
	if err != nil && r.o.FromIndex != nil {
		data, _ := r.o.FromIndex(name)
		text = string(data)
	}
	d := parse(text, dir == "")
	r.files[name] = d
	return d
}
