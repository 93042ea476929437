package config

import (
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strings"
)

// Options are all that a configuration depends on. The zero value gives the
// defaults.
type Options struct {
	// Flags are the values of the flags that the user gave, by key
	// ("actor.timeout"): string, int, time.Duration, []string.
	Flags map[string]any
	// Env is the environment as os.Environ returns it.
	Env []string
	// Home is the user's home directory; "" when there is none.
	Home string
	// WorkingDir is where the run works, absolute; "" for no project at all.
	WorkingDir string
	// RepositoryRoot is the highest directory that may hold the project file;
	// "" outside of a repository.
	RepositoryRoot string
	// TrustProject lets the project file count, in this run, as if trusted.
	TrustProject bool
	// Outputs are the structured formats that an agent's output may have.
	Outputs []string
}

// Load returns the effective configuration. What is wrong with it comes as an
// [*Error] or, when it is more than one thing, as [Errors].
func Load(o Options) (*Config, error) {
	paths, err := Locate(o)
	if err != nil {
		return nil, err
	}
	keys := newSchema(o.Outputs)
	var problems Errors
	trusted := ""
	layers := []layer{keys.defaults()} // lowest first
	for _, read := range []func() (layer, Errors){
		func() (layer, Errors) { return o.global(keys, paths) },
		func() (l layer, found Errors) {
			l, trusted, found = o.project(keys, paths)
			return l, found
		},
		func() (layer, Errors) { return o.variables(keys) },
		func() (layer, Errors) { return o.flags(keys) },
	} {
		l, found := read()
		problems = append(problems, found...)
		layers = append(layers, l)
	}
	if err := problems.orNil(); err != nil {
		return nil, err
	}
	layers = slices.Insert(layers, 1, profile(profileOf(layers)))
	c := merge(layers)
	c.paths, c.trusted = paths, trusted
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return c, nil
}

// merge lays the layers over each other, lowest first.
func merge(layers []layer) *Config {
	c := &Config{}
	c.Agents, c.origins = map[string]CustomAgent{}, map[string]Origin{}
	c.Strategy.values, c.Strategy.roles = map[string]any{}, map[string]map[string]any{}
	fields := map[string]reflect.Value{}
	walk(reflect.ValueOf(c).Elem(), "", "key", func(key string, is reflect.Value) { fields[key] = is })
	agents := map[string]any{}
	for _, l := range layers {
		l.inherit()
		l.part(agents)
		for name, own := range l.agents {
			// Another layer's agent of that name is replaced whole.
			maps.DeleteFunc(c.origins, func(key string, _ Origin) bool {
				return strings.HasPrefix(key, "agents."+name+".")
			})
			c.Agents[name] = own
		}
		for key, v := range l.values {
			if field, ok := fields[key]; ok {
				field.Set(reflect.ValueOf(v.is))
			} else { // or it is one of an agent
				c.Strategy.set(key, v.is)
			}
			c.origins[key] = v.origin
		}
	}
	return c
}

func (s schema) defaults() layer {
	l := layer{values: values{}}
	for _, known := range s {
		if !known.named() {
			l.values[known.key] = value{known.byDefault, Origin{Layer: Default}}
		}
	}
	return l
}

func (o Options) global(keys schema, paths Paths) (layer, Errors) {
	if paths.Global == "" {
		return layer{}, nil
	}
	content, problem := readFile(paths.Global)
	if problem != nil {
		if absent(problem) {
			return layer{}, nil
		}
		return layer{}, Errors{problem}
	}
	r := fileReader{name: paths.Global, origin: Global, schema: keys, home: o.Home}
	return r.read(content)
}

// project reads the project file. Where keys of it need trust, and have it, the
// content's digest is returned, too.
func (o Options) project(keys schema, paths Paths) (_ layer, trusted string, _ Errors) {
	if paths.Project == "" {
		return layer{}, "", nil
	}
	content, problem := readFile(paths.Project)
	if problem != nil {
		return layer{}, "", Errors{problem}
	}
	r := fileReader{name: paths.Project, origin: Project, schema: keys, home: o.Home}
	l, problems := r.read(content)
	if len(problems) > 0 || len(r.guarded) == 0 {
		return l, "", problems
	}
	if o.TrustProject {
		return l, digest(content), nil
	}
	known, problem := trustStore{paths.Trust}.holds(paths.Project, content)
	switch {
	case problem != nil:
		return layer{}, "", Errors{problem}
	case !known:
		return layer{}, "", Errors{untrusted(r.guarded)}
	}
	return l, digest(content), nil
}

// flags reads what the user gave on the command line.
func (o Options) flags(keys schema) (layer, Errors) {
	l := layer{values: values{}}
	var problems Errors
	for _, key := range slices.Sorted(maps.Keys(o.Flags)) {
		s, ok := keys.find(strings.Split(key, "."))
		if !ok || s.named() {
			problems = append(problems, &Error{Key: key, Problem: fmt.Sprintf("no flag sets the key %q", key)})
			continue
		}
		v, problem := o.given(s, o.Flags[key], Origin{Layer: Flag, Name: s.flagName()})
		if problem != nil {
			problems = append(problems, problem)
			continue
		}
		l.values[key] = v
	}
	return l, problems
}

// variables reads the environment.
func (o Options) variables(keys schema) (layer, Errors) {
	l := layer{values: values{}}
	var problems Errors
	env := environment(o.Env, runtime.GOOS)
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if !strings.HasPrefix(name, variablePrefix) || env[name] == "" {
			continue
		}
		s, ok := keys.byVariable(name)
		if !ok {
			if problem := keys.suspect(name); problem != nil {
				problems = append(problems, problem)
			}
			continue
		}
		v, problem := o.given(s, word(env[name]), Origin{Layer: Env, Name: name})
		if problem != nil {
			problems = append(problems, problem)
			continue
		}
		l.values[s.key] = v
	}
	return l, problems
}

// given reads a flag's or a variable's value.
func (o Options) given(s setting, raw any, origin Origin) (value, *Error) {
	is, f := s.value(raw)
	if f == nil && s.directory {
		is, f = absolute(is.(string), o.WorkingDir, o.Home)
	}
	if f != nil {
		problem := origin.Name + " " + f.problem
		if f.line > 1 {
			problem += fmt.Sprintf(" in its line %d", f.line)
		}
		return value{}, &Error{Key: s.key, Problem: problem, Hint: f.hint}
	}
	return value{is, origin}, nil
}
