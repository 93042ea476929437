package tamper

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/BurntSushi/toml"
	"github.com/bmatcuk/doublestar/v4"
)

//go:embed tables.toml
var tablesFile string

// Tables say what tests look like and which files decide about them. tables.toml describes the
// fields.
type Tables struct {
	Languages []*language `toml:"language"`
	Gates     []gate      `toml:"gate"`
	Runners   []runner    `toml:"runner"`
	Expected  struct{ Files globs }
	Programs  struct{ Files globs }
	Agents    struct{ Names []string }
}

// A language describes how tests are written in one.
type language struct {
	Name            string
	Tests, Unlooked globs
	Within          bool
	Alone           globs
	Comment         string
	Encloses        []string
	Declares        pattern
	Marked, Ends    pattern
	Asserts         pattern
	Compares        pattern
	Skips, Focuses  pattern
	Imports         pattern
}

// A gate is one sort of files that decide whether tests run and pass.
type gate struct {
	What  string
	Files globs
}

// A runner says how a test runner reports why a test failed.
type runner struct {
	Asserted, Unbuilt pattern
}

// standard are the program's own tables.
var standard = sync.OnceValue(func() *Tables { //nolint:gochecknoglobals // read once
	t := &Tables{}
	if err := t.read(tablesFile); err != nil {
		panic("tables.toml: " + err.Error()) // embedded, and read by a test
	}
	return t
})

// Standard returns the program's own tables.
func Standard() *Tables { return standard() }

// With returns the tables with those of a TOML text before them, so that a user's come first.
func (t *Tables) With(text string) (*Tables, error) {
	more := &Tables{}
	err := more.read(text)
	more.Languages = append(more.Languages, t.Languages...)
	more.Gates = append(more.Gates, t.Gates...)
	more.Runners = append(more.Runners, t.Runners...)
	more.Expected.Files = append(more.Expected.Files, t.Expected.Files...)
	more.Programs.Files = append(more.Programs.Files, t.Programs.Files...)
	more.Agents.Names = append(more.Agents.Names, t.Agents.Names...)
	return more, err
}

func (t *Tables) read(text string) error {
	meta, err := toml.Decode(text, t)
	if unknown := meta.Undecoded(); err == nil && len(unknown) > 0 {
		err = fmt.Errorf("unknown key %q", unknown[0].String())
	}
	return err
}

// of returns the language that a file holds tests of, nil for none.
func (t *Tables) of(path string) *language {
	for _, l := range t.Languages {
		if l.Tests.match(path) && (l.Declares.Regexp != nil || !t.Expected.Files.match(path)) {
			return l
		}
	}
	return nil
}

// Program reports whether a file is a program by its name.
func (t *Tables) Program(path string) bool { return t.Programs.Files.match(path) }

// gate says what gate file a path is, "" for none.
func (t *Tables) gate(path string) string {
	if t.Agent(path) {
		return "instructions or settings of agents, perhaps of the critic"
	}
	for _, g := range t.Gates {
		if g.Files.match(path) {
			return g.What
		}
	}
	return ""
}

// Agent reports whether agents read a file as instructions or settings; a directory, with a slash
// at its end, whether they may read some of its files.
func (t *Tables) Agent(path string) bool {
	return slices.ContainsFunc(t.Agents.Names, func(name string) bool {
		at, below := "/"+path, "/"+name
		if strings.HasPrefix(name, ".github/") && !strings.HasPrefix(path, ".github/") {
			return false
		}
		return strings.HasSuffix(at, below) || strings.Contains(at, below+"/") ||
			strings.HasSuffix(path, "/") && strings.Contains(below+"/", "/"+path[strings.LastIndexByte(path[:len(path)-1], '/')+1:])
	})
}

// Asserted reports whether the output of a check says that an assertion failed.
func (t *Tables) Asserted(output string) bool {
	return slices.ContainsFunc(t.Runners, func(r runner) bool { return r.Asserted.match(output) })
}

// Unbuilt reports whether the output of a check says that something could not be compiled or loaded.
func (t *Tables) Unbuilt(output string) bool {
	return slices.ContainsFunc(t.Runners, func(r runner) bool { return r.Unbuilt.match(output) })
}

// globs match paths from the root of the repository.
type globs []string

// UnmarshalTOML implements [toml.Unmarshaler].
func (g *globs) UnmarshalTOML(value any) (err error) {
	*g, err = texts(value)
	for _, glob := range *g {
		if !doublestar.ValidatePattern(glob) {
			return fmt.Errorf("%q is no glob", glob)
		}
	}
	return err
}

func (g globs) match(path string) bool {
	return slices.ContainsFunc(g, func(glob string) bool { return doublestar.MatchUnvalidated(glob, path) })
}

// A pattern matches lines in which one of several texts stands; nil matches nothing.
type pattern struct{ *regexp.Regexp }

// UnmarshalTOML implements [toml.Unmarshaler].
func (p *pattern) UnmarshalTOML(value any) error {
	all, err := texts(value)
	if err != nil || len(all) == 0 {
		return err
	}
	for i, text := range all {
		switch {
		case len(text) > 2 && text[0] == '/' && strings.HasSuffix(text, "/"):
			all[i] = text[1 : len(text)-1]
		case text[0] == '_' || unicode.IsLetter(rune(text[0])):
			all[i] = `\b` + regexp.QuoteMeta(text)
		default:
			all[i] = regexp.QuoteMeta(text)
		}
	}
	p.Regexp, err = regexp.Compile(strings.Join(all, "|"))
	return err
}

func texts(value any) (all []string, err error) {
	list, ok := value.([]any)
	for _, v := range list {
		text, isText := v.(string)
		ok = ok && isText && text != ""
		all = append(all, text)
	}
	if !ok {
		return nil, fmt.Errorf("%v is no list of texts to look for", value)
	}
	return all, nil
}

func (p pattern) match(text string) bool { return p.Regexp != nil && p.MatchString(text) }

// find returns what matches, "" for nothing.
func (p pattern) find(text string) string {
	if p.Regexp == nil {
		return ""
	}
	return p.FindString(text)
}

// name returns what the groups hold, "" if nothing matches.
func (p pattern) name(text string) string {
	if !p.match(text) {
		return ""
	}
	return strings.Join(p.FindStringSubmatch(text)[1:], "") // most groups are empty
}
