package config

import (
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"codeloops/internal/file"
)

// Options are everything that a configuration depends on. The zero value gives the
// defaults.
type Options struct {
	// Flags are the values of the flags that the user gave, by key
	// ("actor.timeout"): string, int, time.Duration, []string.
	Flags map[string]any
	// Env is the environment as os.Environ returns it.
	Env []string
	// Home is the user's home directory; "" if unknown.
	Home string
	// WorkingDir is the run's working directory, absolute; "": there is no project.
	WorkingDir string
	// RepositoryRoot is the highest directory that may hold the project file;
	// "" outside a repository.
	RepositoryRoot string
	// TrustProject trusts the project file for this run.
	TrustProject bool
	// Outputs are the structured formats that an agent's output may have.
	Outputs []string
}

// Load returns the effective configuration. Errors are an [*Error] or, for several
// problems, [Errors].
func Load(o Options) (*Config, error) {
	paths, err := Locate(o)
	if err != nil {
		return nil, err
	}
	keys := newSchema(o.Outputs)
	global, inGlobal := o.global(keys, paths)
	project, trusted, inProject := o.project(keys, paths)
	env, inEnv := o.variables(keys)
	flags, inFlags := o.flags(keys)
	if err := slices.Concat(inGlobal, inProject, inEnv, inFlags).orNil(); err != nil {
		return nil, err
	}
	layers := []layer{keys.defaults(), global, project, env, flags} // lowest first
	layers = slices.Insert(layers, 1, profile(profileOf(layers)))
	c := merge(layers)
	c.paths, c.trusted = paths, trusted
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return c, nil
}

// merge merges the layers, lowest first.
func merge(layers []layer) *Config {
	c := &Config{}
	c.Agents, c.values = map[string]CustomAgent{}, values{}
	agents := map[string]any{}
	for _, l := range layers {
		l.inherit()
		l.dropModels(agents)
		for name, own := range l.agents {
			// A lower layer's agent of that name is replaced as a whole.
			maps.DeleteFunc(c.values, func(key string, _ value) bool {
				return strings.HasPrefix(key, "agents."+name+".")
			})
			c.Agents[name] = own
		}
		maps.Copy(c.values, l.values)
	}
	walk(reflect.ValueOf(c).Elem(), "", func(key string, field reflect.Value) {
		field.Set(reflect.ValueOf(c.values[key].is))
	})
	c.Strategy.values = c.values
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
		if file.Missing(problem) {
			return layer{}, nil
		}
		return layer{}, Errors{problem}
	}
	r := fileReader{name: paths.Global, origin: Global, schema: keys, home: o.Home}
	return r.read(content)
}

// project reads the project file. If it has keys that need trust, and is trusted, its
// digest is returned, too.
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
		problems = append(problems, o.set(l, s, o.Flags[key], Origin{Layer: Flag, Name: s.flagName()})...)
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
		if s, ok := keys.byVariable(name); ok {
			problems = append(problems, o.set(l, s, word(env[name]), Origin{Layer: Env, Name: name})...)
		} else {
			problems = append(problems, keys.suspect(name)...)
		}
	}
	return l, problems
}

// set reads the value of a flag or variable.
func (o Options) set(l layer, s setting, raw any, origin Origin) Errors {
	is, f := s.value(raw)
	if f == nil && s.directory {
		is, f = absolute(is.(string), o.WorkingDir, o.Home)
	}
	if f != nil {
		problem := origin.Name + " " + f.problem
		if f.line > 1 {
			problem += fmt.Sprintf(" in its line %d", f.line)
		}
		return Errors{{Key: s.key, Problem: problem, Hint: f.hint}}
	}
	l.values[s.key] = value{is, origin}
	return nil
}
