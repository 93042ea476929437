// Package draft keeps the prompts of a repository: Markdown files that people, editors and git know how to handle.
//
// A few lines at the top of a file may say what kind of work it is about, which other prompts stand before it, and which
// skills it names. Nothing in it is a setting, and nothing in it is run.
package draft

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// A Draft is the content of a file.
type Draft struct {
	Kind    string   // one of [Kinds]
	Parents []string // the prompts whose text stands before it, in this order
	Skills  []string // the skills that it names
	Body    string
}

// The keys at the top of a file.
const (
	keyKind    = "kind"
	keyParents = "parents"
	keySkills  = "skills"
)

// isName reports whether a prompt or a skill may have this name, which must not lead to another directory.
func isName(name string) bool {
	return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`).MatchString(name)
}

// CheckName rejects what cannot be the name of a prompt.
func CheckName(name string) error {
	if !isName(name) {
		return hint.Errorf("use the name of a file in "+Dir+", without .md", "%s cannot be the name of a prompt", wording.Quote(name, 80))
	}
	return nil
}

// fence is the line above and below the keys.
const fence = "---"

// Parse reads the content of a file. Lines at its top that have none of our keys, such as those for another program, are
// part of the text.
func Parse(text string) (Draft, error) {
	d := Draft{Kind: Free, Body: text}
	head, rest, ok := split(text)
	if !ok {
		return d, nil
	}
	d.Body = strings.TrimLeft(rest, "\r\n")
	for i, line := range head {
		key, value, _ := strings.Cut(line, ":")
		key = strings.TrimSpace(key)
		switch key {
		case keyKind:
			k, err := KindOf(strings.TrimSpace(value))
			if err != nil {
				return d, fmt.Errorf("line %d: %w", i+2, err)
			}
			d.Kind = k.Name
		case keyParents, keySkills:
			names, err := Names(value)
			if err != nil {
				return d, fmt.Errorf("line %d: %s: %w", i+2, key, err)
			}
			if key == keyParents {
				d.Parents = names
			} else {
				d.Skills = names
			}
		case "":
		default:
			return d, hint.Errorf("there are "+keyKind+", "+keyParents+" and "+keySkills, "line %d: a prompt has no key %s", i+2, wording.Quote(key, 80))
		}
	}
	return d, nil
}

// split separates the lines with keys from the text below them; ok is false if there are none of ours.
func split(text string) (head []string, rest string, ok bool) {
	first := true
	for at := 0; at < len(text); {
		line, _, _ := strings.Cut(text[at:], "\n")
		at = min(at+len(line)+1, len(text))
		line = strings.TrimRight(line, "\r \t")
		switch {
		case first && line != fence:
			return nil, text, false
		case first:
			first = false
		case line == fence:
			return head, text[at:], slices.ContainsFunc(head, isOurs)
		default:
			head = append(head, line)
		}
	}
	return nil, text, false
}

func isOurs(line string) bool {
	key, _, colon := strings.Cut(line, ":")
	return colon && slices.Contains([]string{keyKind, keyParents, keySkills}, strings.TrimSpace(key))
}

// Names reads names with commas in between, as in a, b or [a, b].
func Names(value string) (names []string, err error) {
	value = strings.TrimSpace(value)
	if inner, ok := strings.CutPrefix(value, "["); ok {
		value = strings.TrimSuffix(inner, "]")
	}
	for name := range strings.SplitSeq(value, ",") {
		name = strings.Trim(strings.TrimSpace(name), `"'`)
		switch {
		case name == "" || slices.Contains(names, name):
		case !isName(name):
			return nil, hint.Errorf("write names with commas in between", "%s is no name", wording.Quote(name, 80))
		default:
			names = append(names, name)
		}
	}
	return names, nil
}

// String is the content of a file that reads as this draft.
func (d Draft) String() string {
	var b strings.Builder
	_, _, ambiguous := split(d.Body)
	if d.Kind != Free && d.Kind != "" || ambiguous {
		fmt.Fprintf(&b, "%s: %s\n", keyKind, d.kind())
	}
	for _, l := range []struct {
		key   string
		names []string
	}{{keyParents, d.Parents}, {keySkills, d.Skills}} {
		if len(l.names) > 0 {
			fmt.Fprintf(&b, "%s: %s\n", l.key, strings.Join(l.names, ", "))
		}
	}
	if b.Len() == 0 {
		return d.Body
	}
	return fence + "\n" + b.String() + fence + "\n\n" + d.Body
}

func (d Draft) kind() string {
	if d.Kind == "" {
		return Free
	}
	return d.Kind
}

// Title is the first line of the text.
func (d Draft) Title() string {
	line, _, _ := strings.Cut(strings.TrimSpace(d.Body), "\n")
	return strings.TrimLeft(wording.Line(line), "# ")
}

// Missing names what has to be known of this kind of work, and is not said.
func (d Draft) Missing() []string {
	k, err := KindOf(d.Kind)
	if err != nil {
		return nil
	}
	return k.Missing(d.Body)
}

// Slug makes a name for a prompt from its title.
func (d Draft) Slug() string {
	words := regexp.MustCompile(`[a-z0-9]+`).FindAllString(strings.ToLower(d.Title()), 6)
	if len(words) == 0 {
		return "prompt"
	}
	return strings.Join(words, "-")
}

// Tokens estimates how many tokens a text has: models count about one for four bytes.
func Tokens(text string) int { return (len(text) + 3) / 4 }
