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
	"codeloops/internal/wording/hint"
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

// Find returns the agent with a name or alias. The user's own agents come before those of
// the catalogue. The error is [ErrUnknown].
func Find(name string, own ...Spec) (Spec, error) {
	var all, names []string // without aliases, and with them
	for _, s := range append(slices.Clone(own), Catalogue()...) {
		known := append([]string{s.Name}, s.Aliases...)
		if slices.Contains(known, name) {
			return s, nil
		}
		all, names = append(all, s.Name), append(names, known...)
	}
	advice := "the agents are " + strings.Join(all, ", ")
	if nearest, ok := wording.Nearest(name, names); ok {
		advice = fmt.Sprintf("did you mean %q?", nearest)
	}
	return Spec{}, hint.Errorf(advice, "%w %q", ErrUnknown, name)
}
