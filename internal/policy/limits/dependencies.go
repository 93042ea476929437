package limits

import (
	_ "embed"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"codeloops/internal/loop"
	"codeloops/internal/policy"
)

// NoNewDependencies forbids dependencies that a manifest did not name when the session began.
// Another version is not a new dependency. The zero value accepts everything.
type NoNewDependencies struct{ manifests []manifest }

// NewNoNewDependencies returns the rule.
func NewNoNewDependencies() NoNewDependencies { return NoNewDependencies{manifests()} }

// Inspect implements [policy.Inspector].
func (d NoNewDependencies) Inspect(c loop.Case, _ *loop.Inspection) *policy.Breach {
	var found []string
	gone := map[string]bool{} // named in any removed line of a manifest of the same sort
	each := func(op byte, do func(m manifest, file, name string)) {
		for file, text := range texts(c.Change) {
			for _, m := range d.manifests {
				if m.is(file) {
					for _, name := range m.names(text, op) {
						do(m, file, name)
					}
				}
			}
		}
	}
	each('-', func(m manifest, _, name string) { gone[m.Sort+"\x00"+name] = true })
	each('+', func(m manifest, file, name string) {
		if entry := quote(name) + " in " + quote(file); !gone[m.Sort+"\x00"+name] && !slices.Contains(found, entry) {
			found = append(found, entry)
		}
	})
	if len(found) == 0 {
		return nil
	}
	return &policy.Breach{
		Why: "new dependencies: " + few(found),
		Feedback: "No new dependencies may be added. These were: " + few(found) +
			". Remove them, from lock files too, and do the task with what is there.",
	}
}

// A manifest is a kind of file that names dependencies.
type manifest struct {
	Sort string // manifests of one sort name the same dependencies
	File *regexp.Regexp
	Dir  string // in a directory of this name, any .txt file
	// Line matches a name in a line, which its groups make up.
	Line *regexp.Regexp
	// Heading matches the headings of sections and lists, and Within the headings of
	// those that hold names. Without Heading, every line counts.
	Heading, Within *regexp.Regexp
	// Sure matches a name if the patch does not show the heading.
	Sure *regexp.Regexp
	Not  *regexp.Regexp // exceptions to Line and Sure
}

// is reports whether a path is that of such a manifest.
func (m manifest) is(file string) bool {
	base, dir := path.Base(file), path.Base(path.Dir(file))
	return m.File.MatchString(base) || m.Dir != "" && m.Dir == dir && path.Ext(base) == ".txt"
}

//go:embed manifests.toml
var manifestsFile string

func manifests() []manifest {
	var file struct{ Manifest []manifest }
	if meta, err := toml.Decode(manifestsFile, &file); err != nil || len(meta.Undecoded()) > 0 {
		panic(fmt.Sprint("manifests.toml: ", meta.Undecoded(), err)) // embedded, and read by tests
	}
	return file.Manifest
}

// names returns the dependencies in the lines of a patch with the op.
func (m manifest) names(patch string, op byte) []string {
	var all []string
	var at place
	for l := range loop.PatchLines(patch) {
		text := strings.TrimRight(l.Text, "\r\n")
		if l.Op == '@' {
			_, heading, _ := strings.Cut(text, "@@ ")
			at, _ = m.enter(place{inside: m.Heading == nil, known: m.Heading == nil}, heading)
			continue
		}
		var body string
		at, body = m.enter(at, text)
		switch {
		case l.Op != op:
		case at.named != "":
			all = append(all, at.named)
		case at.inside:
			all = append(all, m.found(m.Line, body)...)
		case !at.known:
			all = append(all, m.found(m.Sure, body)...)
		}
		if at.closing {
			at.inside, at.known = false, true
		}
	}
	return all
}

// A place is the position of a line in a manifest.
type place struct {
	inside  bool   // in a list of dependencies
	known   bool   // inside is known
	table   bool   // in a table of dependencies
	closing bool   // the list ends with this line
	named   string // the dependency that the table is about
}

// enter returns the place of a line, and the part of it that may hold names.
func (m manifest) enter(at place, text string) (place, string) {
	at.closing, at.named = false, ""
	if m.Heading == nil {
		return at, text
	}
	trimmed := strings.TrimSpace(text)
	groups := m.Heading.FindStringSubmatch(text)
	switch {
	case groups == nil:
		at.closing = slices.Contains([]string{"]", "],", "}", "},"}, trimmed)
		return at, text
	case groups[1] != "": // a table
		at.inside = m.Within.MatchString(groups[1])
		at.known, at.table = true, at.inside
		// As in Cargo's [dependencies.serde].
		if i := strings.LastIndexByte(groups[1], '.'); i > 0 && m.Within.MatchString(groups[1][:i]) {
			at.named = groups[1][i+1:]
		}
		return at, ""
	}
	// A list, perhaps all of it in this line.
	at.inside = at.table || m.Within.MatchString(groups[2])
	at.known = at.known || at.inside
	at.closing = strings.HasSuffix(trimmed, "]")
	_, rest, _ := strings.Cut(text, "[")
	return at, rest
}

// found returns the normalized names in a line.
func (m manifest) found(r *regexp.Regexp, text string) []string {
	var all []string
	if r == nil {
		return nil
	}
	for _, groups := range r.FindAllStringSubmatch(text, -1) {
		name := strings.Join(groups[1:], "")
		if m.Sort == "python" {
			name = strings.ToLower(strings.NewReplacer("_", "-", ".", "-").Replace(name))
		}
		if name != "" && (m.Not == nil || !m.Not.MatchString(name)) {
			all = append(all, name)
		}
	}
	return all
}
