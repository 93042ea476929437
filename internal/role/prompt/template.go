package prompt

import (
	"fmt"
	"slices"
	"strings"

	"codeloops/internal/wording"
)

// A Place is what a template leaves room for.
type Place string

// The places. In a template they are in braces.
const (
	Prompt   Place = "prompt"          // the task
	Output   Place = "output"          // what the actor printed in its last turn
	Diff     Place = "diff"            // what has changed since the session began
	Critique Place = "critique"        // the last review
	Issues   Place = "issues_bulleted" // what that review finds wrong, as a list
)

// Places returns all places.
func Places() []Place { return []Place{Prompt, Output, Diff, Critique, Issues} }

// A Template is what an agent is asked, piece by piece. None is nil.
type Template []Piece

// A Piece is a text of the user's own, or a place: one of the two is "".
type Piece struct {
	Text  string
	Place Place
}

// Holds reports whether a template has room for something.
func (t Template) Holds(p Place) bool {
	return slices.ContainsFunc(t, func(piece Piece) bool { return piece.Place == p })
}

// An Error is what is wrong with a template: the rest of a sentence that begins
// with its name, and what to do about it.
type Error struct {
	Line    int // of the template, from 1; 0: the template as a whole
	Problem string
	Hint    string
}

func (e *Error) Error() string { return e.Problem }

// ForCritique reads what a critic is asked. It has to leave room for the task,
// and for the work that is judged by it. The error is an [*Error].
func ForCritique(text string) (Template, error) {
	return read(text, "the critic has to see it", []Place{Prompt}, []Place{Diff})
}

// ForRefinement reads what an actor is asked after a review. It has to leave room
// for the task, and for the review. The error is an [*Error].
func ForRefinement(text string) (Template, error) {
	return read(text, "the actor has to be told", []Place{Prompt}, []Place{Critique, Issues})
}

// read parses a template that needs one place of each group, and says why. An empty text is no template.
func read(text, why string, needs ...[]Place) (Template, error) {
	if text == "" {
		return nil, nil
	}
	p := parser{rest: text, line: 1}
	for p.rest != "" {
		if err := p.next(); err != nil {
			return nil, err
		}
	}
	p.flush()
	for _, group := range needs {
		if !slices.ContainsFunc(group, p.read.Holds) {
			return nil, &Error{Problem: "lacks " + inBraces(group, " or "), Hint: why + ": add it where it shall stand"}
		}
	}
	return p.read, nil
}

// A parser splits a template into its pieces.
type parser struct {
	rest string
	line int
	text strings.Builder // of the piece under way
	read Template
}

func (p *parser) next() error {
	switch c := p.rest[0]; {
	case strings.HasPrefix(p.rest, "{{"), strings.HasPrefix(p.rest, "}}"):
		p.take(1)
		p.rest = p.rest[1:]
	case c == '{':
		return p.place()
	case c == '}':
		return p.errorf("write }} for one that is to stand there", "holds a single }")
	default:
		n := strings.IndexAny(p.rest, "{}")
		if n < 0 {
			n = len(p.rest)
		}
		p.take(n)
	}
	return nil
}

// take moves n bytes into the piece under way.
func (p *parser) take(n int) {
	p.line += strings.Count(p.rest[:n], "\n")
	p.text.WriteString(p.rest[:n])
	p.rest = p.rest[n:]
}

// place reads a placeholder.
func (p *parser) place() error {
	end := strings.IndexAny(p.rest[1:], "{}\n") + 1
	if end == 0 || p.rest[end] != '}' || !word(p.rest[1:end]) {
		return p.errorf("write {{ for one that is to stand there", "holds a single {")
	}
	held := p.rest[:end+1]
	at := Place(held[1:end])
	switch {
	case !slices.Contains(Places(), at):
		return p.unknown(held)
	case p.read.Holds(at):
		return p.errorf("keep one of the two", "holds %s twice", held)
	}
	p.flush()
	p.read = append(p.read, Piece{Place: at})
	p.rest = p.rest[end+1:]
	return nil
}

// flush ends the piece under way.
func (p *parser) flush() {
	if p.text.Len() > 0 {
		p.read = append(p.read, Piece{Text: p.text.String()})
		p.text.Reset()
	}
}

func (p *parser) unknown(held string) error {
	var names []string
	for _, at := range Places() {
		names = append(names, inBraces([]Place{at}, ""))
	}
	hint := "valid here: " + strings.Join(names, ", ") + "; write {{ for a brace"
	if best, ok := wording.Nearest(held, names); ok {
		hint = fmt.Sprintf("did you mean %q?", best)
	}
	return p.errorf(hint, "holds the unknown placeholder %s", held)
}

func (p *parser) errorf(hint, format string, args ...any) error {
	return &Error{Line: p.line, Problem: fmt.Sprintf(format, args...), Hint: hint}
}

// word reports whether what is in braces was meant to be a name.
func word(s string) bool {
	const longest = 40
	return strings.TrimSpace(s) != "" && len(s) <= longest && !strings.ContainsFunc(s, func(r rune) bool {
		letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
		return !letter && r != '_' && r != '-' && r != ' '
	})
}

func inBraces(places []Place, between string) string {
	var b strings.Builder
	for i, p := range places {
		if i > 0 {
			b.WriteString(between)
		}
		b.WriteString("{" + string(p) + "}")
	}
	return b.String()
}
