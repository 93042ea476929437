package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
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

// readFile returns the content of a configuration file, which must be text. For a missing
// file the error wraps fs.ErrNotExist.
func readFile(name string) ([]byte, *Error) {
	content, _, err := file.Read(name, file.Options{Max: maxFileSize})
	switch status, _ := os.Stat(name); {
	case err == nil:
	case errors.Is(err, file.ErrTooLarge):
		return nil, &Error{File: name, Problem: fmt.Sprintf("the file is larger than %v", Size(maxFileSize))}
	case status != nil && status.IsDir():
		return nil, &Error{File: name, Problem: "it is a directory, not a file", err: syscall.EISDIR}
	case errors.Is(err, file.ErrNotRegular):
		return nil, &Error{File: name, Problem: "not a regular file"}
	default:
		return nil, unreadable(name, err)
	}
	if problem := checkText(name, content); problem != nil {
		return nil, problem
	}
	return content, nil
}

func unreadable(name string, err error) *Error {
	cause := err
	if wrapped, ok := errors.AsType[*os.PathError](err); ok {
		cause = wrapped.Err // the message already names the path
	}
	return &Error{File: name, Problem: "cannot read the file: " + cause.Error(), err: err}
}

func checkText(name string, content []byte) *Error {
	n := 0
	for line := range bytes.Lines(content) {
		switch n++; {
		case bytes.IndexByte(line, 0) >= 0:
			return &Error{File: name, Line: n, Problem: "the file holds a NUL character", Hint: "save it as UTF-8 text"}
		case !utf8.Valid(line):
			return &Error{File: name, Line: n, Problem: "the file is not UTF-8", Hint: "save it as UTF-8 text"}
		}
	}
	return nil
}

// A document is a parsed file.
type document struct {
	text []byte // without a byte order mark
	meta toml.MetaData
	root map[string]toml.Primitive
}

func parseDocument(name string, content []byte) (*document, *Error) {
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
	problem := &Error{File: name, Problem: "not valid TOML: " + err.Error(), err: err}
	if at, ok := errors.AsType[toml.ParseError](err); ok {
		problem.Line = at.Position.Line
		problem.Problem = "not valid TOML: " + strings.TrimSuffix(at.Message, ".")
	}
	return nil, problem
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
		n := node{key: append(slices.Clone(table.key), name)}
		n.value, n.line, n.first, n.last = d.locate(value)
		var within []node
		if _, isTable := n.value.(map[string]any); isTable {
			var inner map[string]toml.Primitive
			_ = d.meta.PrimitiveDecode(value, &inner) // never fails for a table
			within = d.walk(n, inner)
		}
		// A table may only occur in dotted keys, and the decoder loses the position of the key "".
		n.line = cmp.Or(n.line, firstLine(within), table.line)
		all = append(append(all, n), within...)
	}
	return all
}

// locate returns the decoded value and its lines: 0 for a table without a line of its own.
// The decoder reports positions only in errors, so a probe takes the value and fails.
func (d *document) locate(value toml.Primitive) (is any, line, first, last int) {
	var p probe
	err := d.meta.PrimitiveDecode(value, &p)
	at, _ := errors.AsType[toml.ParseError](err)
	if at.Position.Line == 0 {
		return p.value, 0, 0, 0
	}
	line = 1 + bytes.Count(d.text[:at.Position.Start], []byte("\n"))
	first = line
	if rest := d.text[at.Position.Start:]; bytes.HasPrefix(rest, []byte("\n")) || bytes.HasPrefix(rest, []byte("\r\n")) {
		first++ // a line break after the opening quotes is not part of the string
	}
	// The line in the position is the last one of a multi-line string.
	return p.value, line, first, at.Position.Line
}

type probe struct{ value any }

var errProbe = errors.New("value taken")

// UnmarshalTOML keeps the value and fails.
func (p *probe) UnmarshalTOML(value any) error {
	p.value = value
	return errProbe
}

func firstLine(nodes []node) int {
	least := 0
	for _, n := range nodes {
		if n.line > 0 && (least == 0 || n.line < least) {
			least = n.line
		}
	}
	return least
}
