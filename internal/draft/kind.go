package draft

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// A Kind is a kind of work, with the form of a prompt about it.
type Kind struct {
	Name     string    `toml:"name"`
	About    string    `toml:"about"`
	Sections []Section `toml:"section"`
}

// A Section is a part of a prompt: a heading and the text below it.
type Section struct {
	Title  string `toml:"title"`
	Ask    string `toml:"ask"`    // the question that it answers
	Needed bool   `toml:"needed"` // without it, nobody should start
}

// Free is the kind of a prompt that does not say.
const Free = "free"

//go:embed kinds.toml
var kindsTOML string

// Kinds returns all kinds.
func Kinds() []Kind {
	var table struct {
		Kinds []Kind `toml:"kind"`
	}
	_, _ = toml.Decode(kindsTOML, &table) // a test reads it
	return table.Kinds
}

// KindOf returns the kind with a name; "" is the free one.
func KindOf(name string) (Kind, error) {
	if name == "" {
		name = Free
	}
	var names []string
	for _, k := range Kinds() {
		if k.Name == name {
			return k, nil
		}
		names = append(names, k.Name)
	}
	what := "there are " + strings.Join(names, ", ")
	if near, ok := wording.Nearest(name, names); ok {
		what = "did you mean " + near + "?"
	}
	return Kind{}, hint.Errorf(what, "there is no kind of work called %s", wording.Quote(name, 80))
}

// A Form is a prompt, taken apart: the words before the first section, and the texts of the sections by title.
type Form struct {
	Lead  string            `json:"lead"`
	Parts map[string]string `json:"parts"`
}

// Split takes a text apart. Headings that are no sections of the kind belong to the section above them.
func (k Kind) Split(body string) Form {
	f, title := Form{Parts: map[string]string{}}, ""
	for line := range strings.Lines(body) {
		if i := k.heading(line); i >= 0 {
			title = k.Sections[i].Title
			if f.Parts[title] != "" {
				f.Parts[title] += "\n"
			}
			continue
		}
		if title == "" {
			f.Lead += line
		} else {
			f.Parts[title] += line
		}
	}
	f.Lead = strings.Trim(f.Lead, "\n")
	for title, text := range f.Parts {
		f.Parts[title] = strings.Trim(text, "\n")
	}
	return f
}

// heading returns which section a line begins, -1 if none.
func (k Kind) heading(line string) int {
	title, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n \t"), "## ")
	if !ok {
		return -1
	}
	return slices.IndexFunc(k.Sections, func(s Section) bool { return strings.EqualFold(s.Title, strings.TrimSpace(title)) })
}

// Join puts a text together again, without empty sections.
func (k Kind) Join(f Form) string {
	parts := []string{}
	if lead := strings.TrimSpace(f.Lead); lead != "" {
		parts = append(parts, lead)
	}
	for _, s := range k.Sections {
		if text := strings.TrimSpace(f.Parts[s.Title]); text != "" {
			parts = append(parts, "## "+s.Title+"\n\n"+text)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, "\n\n") + "\n"
}

// Blank is the empty form, for an editor.
func (k Kind) Blank() string {
	var b strings.Builder
	for _, s := range k.Sections {
		b.WriteString("\n## " + s.Title + "\n\n")
	}
	return b.String()
}

// Trim leaves empty sections of the form out of a text, and the rest as it is.
func (k Kind) Trim(body string) string {
	f := k.Split(body)
	for _, s := range k.Sections {
		if strings.TrimSpace(f.Parts[s.Title]) == "" && strings.Contains(body, "## "+s.Title) {
			return strings.TrimRight(k.Join(f), "\n") + "\n"
		}
	}
	return body
}

// Missing names the needed sections that a text does not have.
func (k Kind) Missing(body string) (titles []string) {
	f := k.Split(body)
	for _, s := range k.Sections {
		if s.Needed && strings.TrimSpace(f.Parts[s.Title]) == "" {
			titles = append(titles, s.Title)
		}
	}
	return titles
}
