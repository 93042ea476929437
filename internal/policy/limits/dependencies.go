package limits

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/BurntSushi/toml"

	"codeloops/internal/loop"
	"codeloops/internal/policy"
	"codeloops/internal/policy/tamper"
)

// NoNewDependencies forbids dependencies that a manifest did not name when the session began.
// Another version is not a new dependency.
type NoNewDependencies struct {
	On   bool
	Tree tamper.Tree
}

// Inspect implements [policy.Inspector].
func (d NoNewDependencies) Inspect(c loop.Case, _ *loop.Inspection) *policy.Breach {
	if !d.On {
		return nil
	}
	type named struct{ sort, name string }
	gone := map[named]bool{} // from a manifest of that sort: it may have moved
	var came []named
	var places []string
	isManifest := func(path string) bool {
		return slices.ContainsFunc(manifests(), func(m manifest) bool { return m.File.MatchString(path) })
	}
	for _, f := range d.Tree.Texts(c.Change, isManifest) {
		for _, m := range manifests() {
			if !m.File.MatchString(f.Path) {
				continue
			}
			before, after := m.names(f.Before), m.names(f.After)
			for _, name := range before {
				if !slices.Contains(after, name) {
					gone[named{m.Sort, name}] = true
				}
			}
			for _, name := range after {
				if !slices.Contains(before, name) {
					came, places = append(came, named{m.Sort, name}), append(places, quote(name)+" in "+quote(f.Path))
				}
			}
		}
	}
	var found []string
	for i, n := range came {
		if !gone[n] && !slices.Contains(found, places[i]) {
			found = append(found, places[i])
		}
	}
	if len(found) == 0 {
		return nil
	}
	return &policy.Breach{
		Why: "new dependencies: " + few(found),
		Feedback: "No new dependencies may be added. These were: " + few(found) +
			". Remove them, from lock files too, and do the task with what is there.",
	}
}

// A manifest is a kind of file that names dependencies, as manifests.toml describes it.
type manifest struct {
	Sort               string
	File, Line, Within *regexp.Regexp
}

//go:embed manifests.toml
var manifestsFile string

var manifests = sync.OnceValue(func() []manifest { //nolint:gochecknoglobals // read once
	var file struct{ Manifest []manifest }
	if meta, err := toml.Decode(manifestsFile, &file); err != nil || len(meta.Undecoded()) > 0 {
		panic(fmt.Sprint("manifests.toml: ", meta.Undecoded(), err)) // embedded, and read by tests
	}
	return file.Manifest
})

// names returns the dependencies that a text names, normalized.
func (m manifest) names(text string) (all []string) {
	if m.Within != nil {
		text = strings.Join(m.Within.FindAllString(text, -1), "\n")
	}
	for _, groups := range m.Line.FindAllStringSubmatch(text, -1) {
		name := strings.Join(groups[1:], "")
		if m.Sort == "python" {
			name = strings.ToLower(strings.NewReplacer("_", "-", ".", "-").Replace(name))
		}
		if name != "" {
			all = append(all, name)
		}
	}
	return all
}
