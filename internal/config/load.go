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
	// ("actor.timeout"): string, int, bool, []string.
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
}

// Load returns the effective configuration. Errors are an [*Error] or, for several
// problems, [Errors].
func Load(o Options) (*Config, error) {
	paths, err := Locate(o)
	if err != nil {
		return nil, err
	}
	keys := newSchema()
	global, inGlobal := o.file(keys, paths.Global, Global)
	project, inProject := o.file(keys, paths.Project, Project)
	if len(inProject) == 0 {
		inProject = o.distrust(project, paths.Trust)
	}
	env, inEnv := o.variables(keys)
	flags, inFlags := o.flags(keys)
	layers := []layer{keys.defaults(), global.layer, project.layer, env, flags} // lowest first
	problems := slices.Concat(inGlobal, inProject, inEnv, inFlags)
	for _, l := range layers {
		problems = append(problems, l.splitModels()...)
	}
	if err := problems.orNil(); err != nil {
		return nil, err
	}
	layers = slices.Insert(layers, 1, profile(profileOf(layers)))
	c := merge(layers)
	c.paths = paths
	if len(project.guarded) > 0 {
		c.trusted = project.digest
	}
	if err := c.validate(); err != nil {
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

// file reads a configuration file. The name "" means none, and the global one may be missing.
func (o Options) file(keys schema, name string, origin Layer) (*fileReader, Errors) {
	r := &fileReader{name: name, origin: origin, schema: keys, home: o.Home}
	if name == "" {
		return r, nil
	}
	content, problem := readFile(name)
	if problem != nil {
		if origin == Global && file.Missing(problem) {
			return r, nil
		}
		return r, Errors{problem}
	}
	r.digest = digest(content)
	return r, r.read(content)
}

// distrust reports a project file with keys that need trust, if it is not trusted.
func (o Options) distrust(r *fileReader, store string) Errors {
	if len(r.guarded) == 0 || o.TrustProject {
		return nil
	}
	known, problem := trustStore{store}.holds(r.name, r.digest)
	switch {
	case problem != nil:
		return Errors{problem}
	case !known:
		return Errors{untrusted(r.guarded)}
	}
	return nil
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
		i := slices.IndexFunc(keys, func(s setting) bool { return !s.named() && s.variable() == name })
		switch {
		case i < 0:
			problems = append(problems, keys.suspect(name)...)
		case !keys[i].scalar():
			problems = append(problems, &Error{Key: keys[i].key, Problem: name + " cannot be set: " + keys[i].key + " is a list", Hint: "write it in a configuration file"})
		default:
			problems = append(problems, o.set(l, keys[i], word(env[name]), Origin{Layer: Env, Name: name})...)
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
