package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/go-viper/mapstructure/v2"
	"github.com/spf13/viper"

	"codeloops/internal/wording"
)

// Options are everything that a configuration depends on. The zero value gives the
// defaults.
type Options struct {
	// Flags are the values of the flags that the user gave, as typed, by key ("actor.timeout").
	Flags map[string][]string
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
	global, project := o.file(cmp.Or(o.Global, paths.Global), Global), o.file(paths.Project, Project)
	if len(project.problems) == 0 {
		if err := o.distrust(project, paths.Trust); err != nil {
			project.problems = Errors{err}
		}
	}
	env, inEnv := o.variables()
	flags, inFlags := o.flags()
	layers := []layer{defaults(), global.layer, project.layer, env, flags} // lowest first
	problems := slices.Concat(global.problems, project.problems, inEnv, inFlags)
	for _, l := range layers {
		problems = append(problems, l.splitModels()...)
	}
	if err := problems.orNil(); err != nil {
		return nil, err
	}
	c, err := decoded(merge(slices.Insert(layers, 1, profile(layers))))
	if err != nil {
		return nil, fmt.Errorf("read the merged configuration: %w", err)
	}
	c.paths, c.files = paths, o.forAgents(paths.Trust)
	if len(project.guarded) > 0 {
		c.trusted = project.digest
	}
	if err := c.validate(); err != nil {
		return nil, err
	}
	return c, nil
}

// decoded returns the configuration with the values.
func decoded(all layer) (*Config, error) {
	all.shareSeats()
	c := &Config{provenance: provenance{values: all}}
	v := viper.New()
	for key, is := range all {
		if k, _ := find(split(key)); !k.named() {
			v.Set(key, is.is)
		}
	}
	// Names that the user chooses go past viper, which would write them in small letters.
	c.Strategy.set = all.tables("strategy.roles")
	return c, errors.Join(v.UnmarshalExact(c, asTagged), decode(all.tables("agents"), &c.Agents), decode(c.Strategy.set, &c.Strategy.Roles))
}

// asTagged has fields named by their tags.
func asTagged(d *mapstructure.DecoderConfig) { d.TagName, d.Squash, d.DecodeHook = "key", true, nil }

// decode sets the fields of a struct, or of several by name, that values have, by their tags.
func decode(values, into any) error {
	config := &mapstructure.DecoderConfig{Result: into}
	asTagged(config)
	d, err := mapstructure.NewDecoder(config)
	if err != nil {
		return err
	}
	return d.Decode(values)
}

// flags reads what the user gave on the command line.
func (o Options) flags() (layer, Errors) {
	l := layer{}
	var problems Errors
	for _, k := range schema() {
		if words, ok := o.Flags[k.Name]; ok {
			problems = append(problems, o.set(l, k, words, Origin{Layer: Flag, Name: k.said()})...)
		}
	}
	return l, problems
}

// variables reads the environment. A variable that sets no key is reported if it looks like a typo.
// Others are fine: codeloops itself sets some for its agents, and other programs may use the prefix.
func (o Options) variables() (layer, Errors) {
	const prefix = "CODELOOPS_"
	l := layer{}
	var problems Errors
	env := environment(o.Env, runtime.GOOS)
	maps.DeleteFunc(env, func(name, is string) bool { return is == "" || !strings.HasPrefix(name, prefix) })
	var words []string // after the prefix
	for _, k := range schema() {
		word := strings.ToUpper(strings.ReplaceAll(k.Name, ".", "_"))
		is, ok := env[prefix+word]
		delete(env, prefix+word)
		switch {
		case k.isList() && ok:
			problems = append(problems, &Error{Key: k.Name, Problem: prefix + word + " cannot be set: " + k.Name + " is a list", Hint: "write it in a configuration file"})
		case ok:
			problems = append(problems, o.set(l, k, []string{is}, Origin{Layer: Env, Name: prefix + word})...)
		case !k.isList() && !k.named():
			words = append(words, word)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if best, ok := wording.Nearest(name[len(prefix):], words); ok {
			problems = append(problems, &Error{Problem: "unknown variable " + name, Hint: didYouMean(prefix + best)})
		}
	}
	return l, problems
}

// set reads the value of a flag or variable.
func (o Options) set(l layer, k Key, words []string, origin Origin) Errors {
	is, f := k.parse(words)
	if f == nil && k.Directory {
		is, f = absolute(is.(string), o.WorkingDir, o.Home)
	}
	if f != nil {
		problem := origin.Name + " " + f.problem
		if f.line > 1 {
			problem += fmt.Sprintf(" in its line %d", f.line)
		}
		return Errors{&Error{Key: k.Name, Problem: problem, Hint: f.hint}}
	}
	l[k.Name] = value{is, origin}
	return nil
}
