package config

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/go-viper/mapstructure/v2"
	"github.com/spf13/viper"

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
	// MainTree is the root of the repository's first work tree: what is trusted there counts in all of
	// them. "": there is none, or it is unknown.
	MainTree string
	// TrustProject trusts the project file, and what is there for agents, for this run.
	TrustProject bool
	// Project is a project file that was read earlier, and applies instead of any that is there now; nil is none.
	Project *ProjectFile
	// Global is a copy of the user's file that applies instead of that; "" is none.
	Global string
}

// Load returns the effective configuration. Errors are an [*Error] or, for several
// problems, [Errors].
func Load(o Options) (*Config, error) {
	paths, err := Locate(o)
	if err != nil {
		return nil, err
	}
	if o.Project != nil {
		if paths.Project = ""; o.Project.Path != "" {
			paths.Project = filepath.Join(o.RepositoryRoot, filepath.FromSlash(o.Project.Path))
		}
	}
	keys := newSchema()
	global, inGlobal := o.file(keys, cmp.Or(o.Global, paths.Global), Global)
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
	c, err := merge(layers)
	if err != nil {
		return nil, err
	}
	c.paths, c.trusts = paths, o.trusts(paths.Trust)
	if len(project.guarded) > 0 {
		c.trusted = project.digest
	}
	if err := c.validate(); err != nil {
		return nil, err
	}
	return c, nil
}

// merge merges the layers, lowest first.
func merge(layers []layer) (*Config, error) {
	v := viper.New()
	c := &Config{}
	c.values = values{}
	own := map[string]CustomAgent{}
	agents := map[string]any{}
	for _, l := range layers {
		l.inherit()
		l.dropModels(agents)
		for name, agent := range l.agents {
			// A lower layer's agent of that name is replaced as a whole.
			maps.DeleteFunc(c.values, func(key string, _ value) bool {
				return strings.HasPrefix(key, "agents."+name+".")
			})
			own[name] = agent
		}
		maps.Copy(c.values, l.values)
		if err := v.MergeConfigMap(l.values.tables()); err != nil {
			return nil, fmt.Errorf("merge the configuration: %w", err)
		}
	}
	// Names that the user chooses go past viper, which would write them in small letters.
	c.values.shareSeats()
	roles := c.values.roles()
	v.Set("agents", own)
	v.Set("strategy.roles", roles)
	if err := v.UnmarshalExact(c, asTagged); err != nil {
		return nil, fmt.Errorf("read the merged configuration: %w", err)
	}
	c.Strategy.set = roles
	return c, nil
}

// asTagged has fields named by their tags.
func asTagged(d *mapstructure.DecoderConfig) { d.TagName, d.Squash, d.DecodeHook = "key", true, nil }

// decode sets the fields of a struct that values have, by their tags.
func decode(values, into any) error {
	config := &mapstructure.DecoderConfig{Result: into}
	asTagged(config)
	d, err := mapstructure.NewDecoder(config)
	if err != nil {
		return err
	}
	return d.Decode(values)
}

// tables returns the values as a file would nest them, but for those below a name that the
// user chose.
func (v values) tables() map[string]any {
	root := map[string]any{}
	for key, is := range v {
		if strings.HasPrefix(key, "agents.") || strings.HasPrefix(key, roleKeys) {
			continue
		}
		table, name := root, key
		for first, rest, ok := strings.Cut(name, "."); ok; first, rest, ok = strings.Cut(name, ".") {
			if table[first] == nil {
				table[first] = map[string]any{}
			}
			table, name = table[first].(map[string]any), rest
		}
		table[name] = is.is
	}
	return root
}

func (s schema) defaults() layer {
	l := layer{values: values{}}
	for _, known := range s {
		if !known.named() {
			l.values[known.Name] = value{known.Default, Origin{Layer: Default}}
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
	if o.Project != nil && origin == Project {
		r.digest = digest([]byte(o.Project.Text))
		return r, r.read([]byte(o.Project.Text))
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
	if len(r.guarded) == 0 || o.TrustProject || o.Project != nil && o.Project.Trusted {
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
		problems = append(problems, o.set(l, s, o.Flags[key], Origin{Layer: Flag, Name: s.said()})...)
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
		i := slices.IndexFunc(keys, func(s Key) bool { return !s.named() && s.variable() == name })
		switch {
		case i < 0:
			problems = append(problems, keys.suspect(name)...)
		case !keys[i].scalar():
			problems = append(problems, &Error{Key: keys[i].Name, Problem: name + " cannot be set: " + keys[i].Name + " is a list", Hint: "write it in a configuration file"})
		default:
			problems = append(problems, o.set(l, keys[i], word(env[name]), Origin{Layer: Env, Name: name})...)
		}
	}
	return l, problems
}

// set reads the value of a flag or variable.
func (o Options) set(l layer, s Key, raw any, origin Origin) Errors {
	is, f := s.read(raw)
	if f == nil && s.Directory {
		is, f = absolute(is.(string), o.WorkingDir, o.Home)
	}
	if f != nil {
		problem := origin.Name + " " + f.problem
		if f.line > 1 {
			problem += fmt.Sprintf(" in its line %d", f.line)
		}
		return Errors{{Key: s.Name, Problem: problem, Hint: f.hint}}
	}
	l.values[s.Name] = value{is, origin}
	return nil
}
