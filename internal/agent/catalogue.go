package agent

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/BurntSushi/toml"

	"codeloops/internal/wording"
)

//go:embed catalogue.toml
var catalogueFile string

// Catalogue returns the CLIs that codeloops knows, in the order in which to list them.
// Callers must not change the slices and maps inside.
func Catalogue() []Spec { return slices.Clone(catalogue()) }

var catalogue = sync.OnceValue(func() []Spec { //nolint:gochecknoglobals // parsed once, never changed
	all, err := readCatalogue()
	if err != nil {
		panic("catalogue.toml: " + err.Error()) // embedded, and tested
	}
	return all
})

func readCatalogue() ([]Spec, error) {
	var file struct {
		CommonKeys []string `toml:"common_keys"`
		Agent      []toml.Primitive
	}
	meta, err := toml.Decode(catalogueFile, &file)
	if err != nil {
		return nil, err
	}
	var all []Spec
	rows := map[string]toml.Primitive{}
	for _, row := range file.Agent {
		var more struct {
			Name, Like string
			CommonKeys bool `toml:"common_keys"`
		}
		err := meta.PrimitiveDecode(row, &more)
		s := Spec{Protocol: Protocol{Prompt: Stdin, Output: Text}}
		if more.Like != "" {
			err = errors.Join(err, meta.PrimitiveDecode(rows[more.Like], &s))
		}
		if err = errors.Join(err, meta.PrimitiveDecode(row, &s)); err != nil {
			return nil, fmt.Errorf("the agent %s: %w", more.Name, err)
		}
		for _, name := range file.CommonKeys {
			if more.CommonKeys {
				s.Credentials = append(s.Credentials, Credential{Env: name})
			}
		}
		s.VersionArgs, s.Streams = []string{"--version"}, s.Output != Text
		rows[s.Name] = row
		all = append(all, s)
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return nil, fmt.Errorf("unknown keys: %v", unknown)
	}
	return all, nil
}

// An UnknownError is a name that no agent has.
type UnknownError struct {
	Name    string
	Nearest string   // the known name that was probably meant; "" when none is close
	Known   []string // all names, without aliases
}

// Error implements error.
func (e *UnknownError) Error() string { return fmt.Sprintf("no agent is named %q", e.Name) }

// Hint returns what to do about it.
func (e *UnknownError) Hint() string {
	if e.Nearest != "" {
		return fmt.Sprintf("did you mean %q?", e.Nearest)
	}
	return "the agents are " + strings.Join(e.Known, ", ")
}

// Find returns the agent with a name or alias. The user's own agents come before those of
// the catalogue. The error is an [*UnknownError].
func Find(name string, own ...Spec) (Spec, error) {
	unknown := &UnknownError{Name: name}
	var names []string
	for _, s := range append(slices.Clone(own), Catalogue()...) {
		known := append([]string{s.Name}, s.Aliases...)
		if slices.Contains(known, name) {
			return s, nil
		}
		unknown.Known = append(unknown.Known, s.Name)
		names = append(names, known...)
	}
	unknown.Nearest, _ = wording.Nearest(name, names)
	return Spec{}, unknown
}
