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

// NoNewDependencies forbids that a manifest names a dependency that it did not name when
// the session began. Another version is not a new dependency. The zero value lets
// everything pass.
type NoNewDependencies struct{ manifests []manifest }

// NewNoNewDependencies returns the rule.
func NewNoNewDependencies() NoNewDependencies { return NoNewDependencies{manifests()} }

// Name implements [policy.Inspector].
func (NoNewDependencies) Name() string { return RuleNoDependencies }

// Inspect implements [policy.Inspector].
func (d NoNewDependencies) Inspect(c loop.Case, _ *loop.Inspection) *policy.Breach {
	var found []string
	gone := map[string]bool{} // named in a manifest of the same sort, by any line that was taken out
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

// A manifest is a sort of file that names dependencies.
type manifest struct {
	Sort string // those of one sort name the same things
	File *regexp.Regexp
	Dir  string // in a directory of this name, all that ends in .txt
	// Line finds a name in a line; the groups that are not empty make it up.
	Line *regexp.Regexp
	// Within are the sections and lists, by their heading, in which names are
	// looked for; Heading finds headings. Without one, every line counts.
	Heading, Within *regexp.Regexp
	// Sure finds a name where the heading is too far away for the patch to show.
	Sure *regexp.Regexp
	Not  *regexp.Regexp // names that are none
}

// is reports whether a path is one of a manifest of this sort.
func (m manifest) is(file string) bool {
	base, dir := path.Base(file), path.Base(path.Dir(file))
	return m.File.MatchString(base) || m.Dir != "" && m.Dir == dir && path.Ext(base) == ".txt"
}

//go:embed manifests.toml
var manifestsFile string

func manifests() []manifest {
	var file struct{ Manifest []manifest }
	if meta, err := toml.Decode(manifestsFile, &file); err != nil || len(meta.Undecoded()) > 0 {
		panic(fmt.Sprint("manifests.toml: ", meta.Undecoded(), err)) // a part of the program, which the tests have read
	}
	return file.Manifest
}

// names returns the dependencies in the lines of a patch that have the op.
func (m manifest) names(patch string, op byte) []string {
	var all []string
	var at place
	inHunk := false
	for text := range strings.Lines(patch) {
		text = strings.TrimRight(text, "\r\n")
		if rest, ok := strings.CutPrefix(text, "@@ "); ok {
			_, heading, _ := strings.Cut(rest, "@@ ")
			at, _ = m.enter(place{inside: m.Heading == nil, known: m.Heading == nil}, heading)
			inHunk = true
			continue
		}
		if !inHunk || text == "" {
			continue
		}
		var body string
		at, body = m.enter(at, text[1:])
		switch {
		case text[0] != op:
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

// A place is where in a manifest a line stands.
type place struct {
	inside  bool // where dependencies are listed
	known   bool // whether inside is
	table   bool // the table around is one of dependencies
	closing bool // with this line the list ends
	named   string
}

// enter returns where a line stands, and what of it may hold names.
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

// found returns the names in a line, as manifests compare them.
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
