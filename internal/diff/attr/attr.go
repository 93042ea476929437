// Package attr tells how git converts a file on its way into the repository, by
// gitattributes(5).
package attr

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"codeloops/internal/file"
)

// Options say where attributes are defined.
type Options struct {
	WorkTree   string // absolute path
	System     string // path of the installation's file; "" or missing: none
	User       string // path of the user's file; "" or missing: none
	Info       string // path of the repository's own file; "" or missing: none
	IgnoreCase bool   // core.ignoreCase

	// FromIndex returns the content of a tracked .gitattributes file, given its path from the
	// root. It is called where the work tree has no such file, and must not call the Reader.
	// May be nil.
	FromIndex func(path string) ([]byte, bool)
}

// A State says whether a path has an attribute.
type State uint8

// The states of an attribute.
const (
	Unspecified State = iota
	Set
	Unset
	Valued
)

// A Value is the state of an attribute, with its text if it is Valued.
type Value struct {
	State State
	Text  string
}

// Attrs are the attributes of one path, by name.
type Attrs map[string]Value

// The attributes that affect conversion.
const (
	text     = "text"
	crlf     = "crlf" // the old name of text
	eol      = "eol"
	Ident    = "ident"
	Filter   = "filter"
	Encoding = "working-tree-encoding"
)

// A Reader looks up attributes in one work tree. It caches files: make a new one when they may have
// changed. It is safe for concurrent use.
type Reader struct {
	o            Options
	above, below []rule // with higher and lower priority than the files in the work tree
	macros       map[string][]assignment

	mu     sync.Mutex
	inside map[string][]rule // in the work tree, by directory, "" or with a slash at the end
}

// New returns a Reader. Files below the root of the work tree are read when needed.
func New(o Options) *Reader {
	r := &Reader{o: o, macros: make(map[string][]assignment), inside: make(map[string][]rule)}
	info, user, system, own := readOutside(o.Info), readOutside(o.User), readOutside(o.System), r.read("")
	r.above, r.below = info.rules, slices.Concat(system.rules, user.rules)
	r.inside[""] = own.rules
	builtIn := parse("[attr]binary -diff -merge -text", true)
	for _, d := range []*definitions{builtIn, system, user, own, info} {
		maps.Copy(r.macros, d.macros)
	}
	return r
}

// Of returns the attributes of path (slash-separated, from the root).
func (r *Reader) Of(path string) Attrs {
	end := strings.LastIndexByte(path, '/') + 1
	name, found := path[end:], make(Attrs)
	match := func(rules []rule, from int) { // rules of the directory path[:from]
		for _, rule := range slices.Backward(rules) {
			if rule.pattern.Match(path[from:], name, false, r.o.IgnoreCase) {
				r.apply(rule.assign, found)
			}
		}
	}
	match(r.above, 0)
	for ; end > 0; end = strings.LastIndexByte(path[:end-1], '/') + 1 {
		match(r.rules(path[:end]), end)
	}
	match(r.rules(""), 0)
	match(r.below, 0)
	return found
}

// Outside reports whether files outside the work tree define any attributes.
func (r *Reader) Outside() bool { return len(r.above)+len(r.below) > 0 }

// rules returns the rules of a directory of the work tree.
func (r *Reader) rules(dir string) []rule {
	r.mu.Lock()
	defer r.mu.Unlock()
	own, known := r.inside[dir]
	if !known {
		own = r.read(dir).rules
		r.inside[dir] = own
	}
	return own
}

// apply adds the assignments of a line, the last one first. It does not overwrite. A macro that is
// set adds its own assignments. Macros can name each other, but the loop ends because each
// attribute is added only once.
func (r *Reader) apply(assign []assignment, to Attrs) {
	stack := slices.Clone(assign)
	for len(stack) > 0 {
		last := len(stack) - 1
		a := stack[last]
		stack = stack[:last]
		if _, known := to[a.name]; known {
			continue
		}
		to[a.name] = a.value
		if a.value.State == Set {
			stack = append(stack, r.macros[a.name]...)
		}
	}
}

func readOutside(path string) *definitions {
	text, _ := readText(path, file.Options{})
	return parse(text, true)
}

// readText returns the content of a file without a byte order mark, which git accepts in files, but
// not in the index.
func readText(path string, how file.Options) (string, error) {
	data, _, err := file.Read(path, how)
	return strings.TrimPrefix(string(data), "\ufeff"), err
}

func (r *Reader) read(dir string) *definitions {
	name := dir + fileName
	text, err := readText(filepath.Join(r.o.WorkTree, filepath.FromSlash(name)), file.Options{NoFollow: true})
	if err != nil && r.o.FromIndex != nil {
		data, _ := r.o.FromIndex(name)
		text = string(data)
	}
	return parse(text, dir == "")
}
