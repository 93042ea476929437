package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/BurntSushi/toml"

	"codeloops/internal/file"
)

// These limits are far beyond what any configuration needs. They keep a hostile project
// file from taking long to read.
const (
	maxFileSize = 64 << 10 // bytes
	maxKeys     = 1000     // including tables
	maxProblems = 20
)

// A node is one key of a TOML document with its decoded value; that of a table is a
// map[string]any.
type node struct {
	key   toml.Key
	value any
	line  int
	first int // the line of a multi-line string's first character
	last  int // the line in which it ends
}

// at converts a line within a string to a line of the file, as far as the string's escapes
// allow; 0 is the value's own line.
func (n node) at(line int) int {
	if line == 0 || n.last <= n.line {
		return n.line
	}
	return min(n.first+line-1, n.last)
}

// readFile returns the content of a configuration file. For a missing file the error wraps fs.ErrNotExist.
func readFile(name string) ([]byte, error) {
	content, _, err := file.Read(name, file.Options{Max: maxFileSize})
	switch {
	case errors.Is(err, file.ErrTooLarge):
		return nil, &Error{File: name, Problem: fmt.Sprintf("the file is larger than %v", Size(maxFileSize))}
	case errors.Is(err, file.ErrNotRegular) && isDir(name):
		return nil, &Error{File: name, Problem: "it is a directory, not a file", err: err}
	case err != nil:
		return nil, unreadable(name, err)
	}
	return content, nil
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

func unreadable(name string, err error) error {
	cause := err
	if wrapped, ok := errors.AsType[*os.PathError](err); ok {
		cause = wrapped.Err // the message already names the path
	}
	return &Error{File: name, Problem: "cannot read the file: " + cause.Error(), err: err}
}

// A document is a parsed file.
type document struct {
	text []byte // without a byte order mark
	meta toml.MetaData
	root map[string]toml.Primitive
}

func parseDocument(name string, content []byte) (*document, error) {
	if line := tooDeep(content); line > 0 {
		return nil, &Error{File: name, Line: line, Problem: "tables are nested too deep"}
	}
	doc := &document{text: bytes.TrimPrefix(content, []byte("\xef\xbb\xbf"))}
	var err error
	if doc.meta, err = toml.Decode(string(doc.text), &doc.root); err == nil {
		if len(doc.meta.Keys()) > maxKeys {
			return nil, &Error{File: name, Problem: fmt.Sprintf("the file has more than %d keys", maxKeys)}
		}
		return doc, nil
	}
	at, _ := errors.AsType[toml.ParseError](err) // the decoder has no other errors
	how := ""
	if !utf8.Valid(doc.text) || bytes.IndexByte(doc.text, 0) >= 0 {
		how = "save it as UTF-8 text"
	}
	return nil, &Error{File: name, Line: at.Position.Line, Problem: "not valid TOML: " + strings.TrimSuffix(at.Message, "."), Hint: how, err: err}
}

// nodes returns all keys of the document, ordered by line.
func (d *document) nodes() []node {
	all := d.walk(node{}, d.root)
	slices.SortFunc(all, func(a, b node) int { return cmp.Or(a.line-b.line, slices.Compare(a.key, b.key)) })
	return all
}

func (d *document) walk(table node, values map[string]toml.Primitive) []node {
	var all []node
	for name, value := range values {
		var within []node
		n := d.locate(append(slices.Clone(table.key), name), value)
		if _, isTable := n.value.(map[string]any); isTable {
			var inner map[string]toml.Primitive
			_ = d.meta.PrimitiveDecode(value, &inner) // never fails for a table
			within = d.walk(n, inner)
		}
		// A table may only occur in dotted keys, and the decoder loses the position of the key "".
		n.line = cmp.Or(n.line, least(within), table.line)
		all = append(append(all, n), within...)
	}
	return all
}

// locate returns the node of a value, without a line if it is a table that has none of its own.
// The decoder reports positions only in errors, so a probe takes the value and fails.
func (d *document) locate(key toml.Key, value toml.Primitive) node {
	var p probe
	err := d.meta.PrimitiveDecode(value, &p)
	n := node{key: key, value: p.value}
	if at, _ := errors.AsType[toml.ParseError](err); at.Position.Line > 0 {
		before, rest := d.text[:at.Position.Start], d.text[at.Position.Start:]
		n.line = 1 + bytes.Count(before, []byte("\n"))
		n.first, n.last = n.line, at.Position.Line // which is that of the end of a multi-line string
		if bytes.HasPrefix(bytes.TrimPrefix(rest, []byte("\r")), []byte("\n")) {
			n.first++ // a line break after the opening quotes is not part of the string
		}
	}
	return n
}

type probe struct{ value any }

var errProbe = errors.New("value taken")

// UnmarshalTOML keeps the value and fails.
func (p *probe) UnmarshalTOML(value any) error {
	p.value = value
	return errProbe
}

// least returns the first line of nodes, all of which have one.
func least(nodes []node) (line int) {
	for _, n := range nodes {
		line = min(cmp.Or(line, n.line), n.line)
	}
	return line
}
