package config

import (
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"codeloops/internal/loop"
)

// A value is one setting of one layer.
type value struct {
	is     any // as [Config] holds it
	origin Origin
}

// A values holds what one layer sets, by key. It holds agents for their origins; their
// content is in the layer's agents.
type values map[string]value

// A layer is what one place of configuration sets.
type layer struct {
	values values
	agents map[string]CustomAgent
}

// splitModels divides agents that are written with their model, as in claude:opus.
func (l layer) splitModels() (problems Errors) {
	for _, key := range slices.Sorted(maps.Keys(l.values)) {
		of, isAgent := strings.CutSuffix(key, "agent")
		whole := l.values[key]
		name, _ := whole.is.(string)
		if !isAgent || of != "" && !strings.HasSuffix(of, ".") || !strings.Contains(name, ":") {
			continue
		}
		who, origin := loop.ParseAgent(name), whole.origin
		if own, has := l.values[of+"model"]; has && own.is != "" && own.is != who.Model {
			problems = append(problems, &Error{
				File: origin.File, Line: origin.Line, Key: key,
				Problem: fmt.Sprintf("%s %s has another model than %s %s", origin.Name, name, own.origin.Name, own.is), Hint: "leave one of the two models out",
			})
		}
		l.values[key], l.values[of+"model"] = value{who.Agent, origin}, value{who.Model, origin}
	}
	return problems
}

// inherit gives the roles the layer's general agent, model and fallback unless the layer
// sets the role's own. An empty agent or model counts as not set, an empty fallback as
// set.
func (l layer) inherit() {
	for _, name := range []string{"agent", "model", "fallback"} {
		for _, role := range []string{"actor.", "critic."} {
			if own, ok := l.values[role+name]; ok && own.is != "" {
				continue
			}
			delete(l.values, role+name)
			if name == "model" && l.hasOtherAgent(role) {
				continue
			}
			if general, ok := l.values[name]; ok {
				l.values[role+name] = general
			}
		}
	}
}

// hasOtherAgent reports whether the layer gives a role another agent than the general one,
// whose model it must then not get.
func (l layer) hasOtherAgent(role string) bool {
	general, ok := l.values["agent"]
	own := l.values[role+"agent"]
	return ok && own.is != nil && own.is != general.is
}

// dropModels resets the model of a role whose agent this layer replaces, because it
// belongs to that agent. agents holds each role's agent in the lower layers; it is
// updated.
func (l layer) dropModels(agents map[string]any) {
	for _, role := range []string{"actor.", "critic."} {
		agent, sets := l.values[role+"agent"]
		if !sets || agent.is == agents[role] {
			continue
		}
		if _, has := l.values[role+"model"]; !has {
			l.values[role+"model"] = value{"", Origin{Layer: Default}}
		}
		agents[role] = agent.is
	}
}

// A fileReader turns one configuration file into a layer.
type fileReader struct {
	name     string
	origin   Layer // Project or Global
	schema   schema
	home     string
	layer    layer
	problems Errors
	digest   string   // of the content
	guarded  []*Error // the first use of each key that needs trust
}

// read reads the layer, and returns all problems.
func (r *fileReader) read(content []byte) Errors {
	r.layer = layer{values: values{}}
	doc, problem := parseDocument(r.name, content)
	if problem != nil {
		return Errors{problem}
	}
	var refused []toml.Key
	for _, n := range doc.nodes() {
		within := func(table toml.Key) bool { return len(table) < len(n.key) && slices.Equal(table, n.key[:len(table)]) }
		if slices.ContainsFunc(refused, within) {
			continue // one problem for a table is enough
		}
		if !r.take(n) {
			refused = append(refused, n.key)
		}
		if len(r.problems) == maxProblems {
			break
		}
	}
	if len(r.problems) == 0 {
		r.takeAgents(doc)
		slices.SortStableFunc(r.problems, func(a, b *Error) int { return a.Line - b.Line })
	}
	return r.problems
}

// take reads one key, and reports whether the schema accepts it.
func (r *fileReader) take(n node) bool {
	key := []string(n.key)
	if key[0] == "defaults" {
		if key = key[1:]; !r.mayDefault(n, key) {
			return false
		}
	}
	if r.schema.isTable(key) {
		return r.takeTable(n, key)
	}
	s, ok := r.schema.find(key)
	if !ok {
		r.fail(n, fmt.Sprintf("unknown key %q", n.key.String()), r.schema.hint(key))
		return false
	}
	if s.own && r.origin == Project {
		r.fail(n, n.key.String()+" is allowed only in your own configuration", "`codeloops config path` says where that is")
		return false
	}
	is, f := s.read(n.value)
	if f == nil && s.Directory {
		is, f = absolute(is.(string), filepath.Dir(r.name), r.home)
	}
	if role, template := strings.CutSuffix(strings.Join(key, "."), ".template"); f == nil && template && strings.HasPrefix(role, roleKeys) {
		f = checkTemplate(strings.TrimPrefix(role, roleKeys), is.(string))
	}
	if f != nil {
		n.line = n.at(f.line)
		r.fail(n, n.key.String()+" "+f.problem, f.hint)
		return false
	}
	r.set(n, toml.Key(key).String(), is)
	if s.trust {
		r.guard(n, key)
	}
	return true
}

func (r *fileReader) takeTable(n node, key []string) bool {
	if _, isTable := n.value.(map[string]any); !isTable {
		r.fail(n, n.key.String()+" must be a table, not "+typeName(n.value), fmt.Sprintf("write its keys below [%s]", n.key))
		return false
	}
	if len(key) == 2 && key[0] == "agents" {
		if !isName(key[1]) {
			r.fail(n, fmt.Sprintf("%q cannot be an agent's name", short(key[1])), nameRule)
			return false
		}
		r.guard(n, key)
	}
	if len(key) == 3 && strings.HasPrefix(roleKeys, strings.Join(key[:2], ".")) && !isName(key[2]) {
		r.fail(n, fmt.Sprintf("%q cannot be a role's name", short(key[2])), nameRule)
		return false
	}
	return true
}

// mayDefault rejects a key that may not be in [defaults], a table of the global file.
func (r *fileReader) mayDefault(n node, key []string) bool {
	hint := "[defaults] takes agent, model, fallback, max_iterations, actor and critic; write other keys at the top level"
	switch {
	case r.origin != Global:
		hint = "[defaults] belongs in the global file; here, write its keys at the top level"
	case len(key) == 0 || slices.Contains([]string{"agent", "model", "fallback", "max_iterations", "actor", "critic"}, key[0]):
		return true
	}
	r.fail(n, fmt.Sprintf("unknown key %q", n.key.String()), hint)
	return false
}

// set records a value. Setting a key both in [defaults] and outside is a problem if the
// values differ.
func (r *fileReader) set(n node, key string, is any) {
	if first, ok := r.layer.values[key]; ok && !reflect.DeepEqual(first.is, is) {
		r.fail(n, fmt.Sprintf("%s differs from %s in line %d", n.key, first.origin.Name, first.origin.Line), "keep one of the two")
		return
	}
	r.layer.values[key] = value{is, Origin{Layer: r.origin, File: r.name, Line: n.line, Name: n.key.String()}}
}

// guard notes a key that needs trust.
func (r *fileReader) guard(n node, key []string) {
	name := strings.Join(key, ".")
	if key[0] == "agents" {
		name = key[0] + "." + key[1]
	}
	if !slices.ContainsFunc(r.guarded, func(e *Error) bool { return e.Key == name }) {
		r.guarded = append(r.guarded, &Error{File: r.name, Line: n.line, Key: name})
	}
}

func (r *fileReader) fail(n node, problem, hint string) {
	r.problems = append(r.problems, &Error{
		File: r.name, Line: n.line, Key: n.key.String(), Problem: problem, Hint: hint,
	})
}
