package config

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"codeloops/internal/file"
)

// A fileReader turns one configuration file into a layer.
type fileReader struct {
	layer
	name     string
	origin   Layer // Project or Global
	home     string
	problems Errors
	digest   string   // of the content
	guarded  []*Error // the first use of each key that needs trust
}

// file reads a configuration file. The name "" means none, and the global one may be missing.
func (o Options) file(name string, origin Layer) *fileReader {
	r := &fileReader{layer: layer{}, name: name, origin: origin, home: o.Home}
	switch content, problem := readFile(name); {
	case name == "":
	case o.Project != nil && origin == Project:
		r.read([]byte(o.Project.Text))
	case problem == nil:
		r.read(content)
	case origin != Global || !file.Missing(problem):
		r.problems = Errors{problem}
	}
	return r
}

// read reads the layer, and notes all problems.
func (r *fileReader) read(content []byte) {
	r.digest = digest(content)
	doc, problem := parseDocument(r.name, content)
	if problem != nil {
		r.problems = Errors{problem}
		return
	}
	var refused []toml.Key
	for _, n := range doc.nodes() {
		within := func(table toml.Key) bool { return len(table) < len(n.key) && slices.Equal(table, n.key[:len(table)]) }
		if len(r.problems) == maxProblems || slices.ContainsFunc(refused, within) {
			continue // one problem for a table is enough
		}
		if f := r.take(n); f != nil {
			refused = append(refused, n.key)
			r.problems = append(r.problems, &Error{File: r.name, Line: n.at(f.line), Key: n.key.String(), Problem: f.problem, Hint: f.hint})
		}
	}
}

// take reads one key or table.
func (r *fileReader) take(n node) *fault {
	key := []string(n.key)
	if key[0] == "defaults" {
		key = key[1:]
		if hint := r.mayDefault(key); hint != "" {
			return &fault{problem: fmt.Sprintf("unknown key %q", n.key.String()), hint: hint}
		}
	}
	k, ok := find(key)
	switch {
	case tables()[declaredAs(key)] != nil:
		return r.takeTable(n, key)
	case !ok:
		return &fault{problem: fmt.Sprintf("unknown key %q", n.key.String()), hint: unknown(key)}
	case k.own && r.origin == Project:
		return &fault{problem: n.key.String() + " is allowed only in your own configuration", hint: "`codeloops config path` says where that is"}
	}
	is, f := k.read(n.value)
	if f == nil && k.Directory {
		is, f = absolute(is.(string), filepath.Dir(r.name), r.home)
	}
	if f == nil && k.Name == "strategy.roles.*.template" {
		f = checkTemplate(key[2], is.(string))
	}
	if f != nil {
		f.problem = n.key.String() + " " + f.problem
		return f
	}
	name := strings.Join(key, ".")
	if first, ok := r.layer[name]; ok && !reflect.DeepEqual(first.is, is) {
		return &fault{problem: fmt.Sprintf("%s differs from %s in line %d", n.key, first.origin.Name, first.origin.Line), hint: "keep one of the two"}
	}
	r.layer[name] = value{is, Origin{Layer: r.origin, File: r.name, Line: n.line, Name: n.key.String()}}
	if k.trust {
		r.guard(n, key)
	}
	return nil
}

func (r *fileReader) takeTable(n node, key []string) *fault {
	last := len(key) - 1
	switch _, isTable := n.value.(map[string]any); {
	case !isTable:
		return &fault{problem: n.key.String() + " must be a table, not " + typeName(n.value), hint: fmt.Sprintf("write its keys below [%s]", n.key)}
	case last > 0 && tables()[declaredAs(key[:last])][0] == "*" && !isName(key[last]): // the user chooses it
		return &fault{problem: fmt.Sprintf("%q cannot be a name in [%s]", short(key[last]), n.key[:last]), hint: nameRule}
	}
	return nil
}

// mayDefault says what is wrong with a key in [defaults], a table of the global file.
func (r *fileReader) mayDefault(key []string) (hint string) {
	switch {
	case r.origin != Global:
		return "[defaults] belongs in the global file; here, write its keys at the top level"
	case len(key) == 0 || slices.Contains([]string{"agent", "model", "fallback", "max_iterations", "actor", "critic"}, key[0]):
		return ""
	}
	return "[defaults] takes agent, model, fallback, max_iterations, actor and critic; write other keys at the top level"
}

// guard notes a key that needs trust, or the agent that it belongs to.
func (r *fileReader) guard(n node, key []string) {
	if key[0] == "agents" {
		key = key[:2]
	}
	name := strings.Join(key, ".")
	if !slices.ContainsFunc(r.guarded, func(e *Error) bool { return e.Key == name }) {
		r.guarded = append(r.guarded, &Error{File: r.name, Line: n.line, Key: name})
	}
}
