// Package attr tells how git converts a file on its way into the repository.
//
// It reads gitattributes(5) for the paths it is asked about, no others.
package attr

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"codeloops/internal/repo/file"
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

// Attrs are the attributes of one path, by name. One that no definition mentions is
// Unspecified.
type Attrs map[string]Value

// The attributes that bear on the conversion of a file.
const (
	text     = "text"
	crlf     = "crlf" // the old name of text
	eol      = "eol"
	Ident    = "ident"
	Filter   = "filter"
	Encoding = "working-tree-encoding"
)

// A Reader answers for the paths of one work tree. It keeps what it has read for
// a path: make a new one when the files may have changed. It is safe for concurrent
// use.
type Reader struct {
	o            Options
	above, below []rule // what counts more than the work tree's files, and what counts less
	macros       map[string][]assignment

	mu     sync.Mutex
	inside map[string][]rule // of the work tree's files, by directory, "" or with a slash behind
}

// New returns a Reader. Files below the root of the work tree are read when a path
// needs them.
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
	match := func(rules []rule, from int) { // those of the directory whose path is that long
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

// Outside reports whether files outside the work tree define any.
func (r *Reader) Outside() bool { return len(r.above)+len(r.below) > 0 }

// rules returns what a directory of the work tree defines.
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

// apply takes over the assignments of a line, the last one first; what is known stays. A
// macro that is set brings its own with it; it may name other macros, but each attribute
// is taken once, so that this ends.
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
	text, _ := readText(path, file.How{})
	return parse(text, true)
}

// readText returns the content of a file without a byte order mark, which git
// tolerates in files though not in the index.
func readText(path string, how file.How) (string, error) {
	data, _, err := file.Read(path, how)
	return strings.TrimPrefix(string(data), "\ufeff"), err
}

func (r *Reader) read(dir string) *definitions {
	name := dir + fileName
	text, err := readText(filepath.Join(r.o.WorkTree, filepath.FromSlash(name)), file.How{NoFollow: true})
	if err != nil && r.o.FromIndex != nil {
		data, _ := r.o.FromIndex(name)
		text = string(data)
	}
	return parse(text, dir == "")
}
