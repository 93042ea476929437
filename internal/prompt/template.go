package prompt

import (
	"fmt"
	"slices"
	"strings"

	"codeloops/internal/wording"
)

// A Place is a placeholder of a template, where it stands in braces.
type Place string

// The places.
const (
	Prompt   Place = "prompt"          // the task
	Output   Place = "output"          // what the actor printed in its last turn
	Diff     Place = "diff"            // what has changed since the session began
	Critique Place = "critique"        // the last review
	Issues   Place = "issues_bulleted" // what that review finds wrong, as a list
	Workers  Place = "worker_descriptions"
)

// afterWork returns the places of a template for those who see work or a review of it.
func afterWork() []Place { return []Place{Prompt, Output, Diff, Critique, Issues} }

// A Template is the user's own prompt for an agent; nil is none.
type Template []Piece

// A Piece is a text or a place: one of the two is "".
type Piece struct {
	Text  string
	Place Place
}

// Words returns the text of a piece as a prompt shows it: without control sequences, and
// without blank lines around it.
func (p Piece) Words() string {
	return strings.TrimRight(strings.TrimLeft(wording.Clean(p.Text), "\n"), " \t\n")
}

// Holds reports whether a template has a place.
func (t Template) Holds(p Place) bool {
	return slices.ContainsFunc(t, func(piece Piece) bool { return piece.Place == p })
}

// An Error says what is wrong with a template, in the rest of a sentence that begins with
// the template's name, and what to do about it.
type Error struct {
	Line    int // from 1; 0: the template as a whole
	Problem string
	Hint    string
}

func (e *Error) Error() string { return e.Problem }

// ForCritique parses a prompt for a critic, which must have places for the task and for
// the diff. The error is an [*Error].
func ForCritique(text string) (Template, error) {
	return read(text, afterWork(), "the critic needs to see it", []Place{Prompt}, []Place{Diff})
}

// ForRefinement parses a prompt for an actor after a review, which must have places for
// the task and for the review. The error is an [*Error].
func ForRefinement(text string) (Template, error) {
	return read(text, afterWork(), "the actor needs to be told", []Place{Prompt}, []Place{Critique, Issues})
}

// ForTask parses a prompt for an actor, which must have a place for the task. The error is an [*Error].
func ForTask(text string) (Template, error) {
	return read(text, []Place{Prompt}, "the actor needs to be told", []Place{Prompt})
}

// ForRole parses a prompt for another role. One that chooses among workers must have a place for
// them. The error is an [*Error].
func ForRole(text string, chooses bool) (Template, error) {
	if !chooses {
		return read(text, []Place{Prompt}, "")
	}
	return read(text, []Place{Prompt, Workers}, "the role chooses among them", []Place{Workers})
}

// token matches what is special in a template: a brace, a doubled one, or text in braces.
var token = wording.Pattern(`\{\{|\}\}|\{[^{}\n]*\}|[{}]`)

// named matches text in braces that was meant as the name of a place.
var named = wording.Pattern(`^\{ *[\w-][\w -]*\}$`)

// read parses a template that may have these places and needs one of each group, and says why. An
// empty text is no template.
func read(text string, may []Place, why string, needs ...[]Place) (t Template, err error) {
	if text == "" {
		return nil, nil
	}
	var own strings.Builder // the piece in progress
	flush := func() {
		if own.Len() > 0 {
			t = append(t, Piece{Text: own.String()})
			own.Reset()
		}
	}
	from := 0
	for _, at := range token().FindAllStringIndex(text, -1) {
		own.WriteString(text[from:at[0]])
		held := text[at[0]:at[1]]
		from = at[1]
		if held == "{{" || held == "}}" {
			own.WriteString(held[:1])
			continue
		}
		if problem, hint := t.refuses(held, may); problem != "" {
			return nil, &Error{Line: 1 + strings.Count(text[:at[0]], "\n"), Problem: problem, Hint: hint}
		}
		flush()
		t = append(t, Piece{Place: Place(strings.Trim(held, "{}"))})
	}
	own.WriteString(text[from:])
	flush()
	for _, group := range needs {
		if !slices.ContainsFunc(group, t.Holds) {
			return nil, &Error{Problem: "lacks " + inBraces(group, " or "), Hint: why + ": add it where it should appear"}
		}
	}
	return t, nil
}

// refuses says why a token cannot be the next place of a template, and what to do about
// it; "" when it can.
func (t Template) refuses(held string, may []Place) (problem, hint string) {
	at := Place(strings.Trim(held, "{}"))
	switch {
	case held == "}":
		return "holds a single }", "write }} for a literal }"
	case !named().MatchString(held) || len(at) > 40:
		return "holds a single {", "write {{ for a literal {"
	case t.Holds(at):
		return "holds " + held + " twice", "keep one of the two"
	case slices.Contains(may, at):
		return "", ""
	}
	var names []string
	for _, at := range may {
		names = append(names, inBraces([]Place{at}, ""))
	}
	hint = "valid here: " + strings.Join(names, ", ") + "; write {{ for a brace"
	if best, ok := wording.Nearest(held, names); ok {
		hint = fmt.Sprintf("did you mean %q?", best)
	}
	return "holds the unknown placeholder " + held, hint
}

func inBraces(places []Place, between string) string {
	var all []string
	for _, p := range places {
		all = append(all, "{"+string(p)+"}")
	}
	return strings.Join(all, between)
}
