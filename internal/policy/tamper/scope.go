package tamper

import (
	"strings"

	"codeloops/internal/wording"
)

// A scope is a function, from its declaration to the end of its indentation.
type scope struct {
	test   string // its name, if it is a test
	begin  *line  // its declaration
	indent int
	class  bool
}

// name returns the name of the test, "" for none.
func (s *scope) name() string {
	if s == nil {
		return ""
	}
	return s.test
}

// scopes finds the innermost function around each line of a file.
func (f *file) scopes() {
	for _, h := range f.hunks {
		old, now := walk{lang: f.lang}, walk{lang: f.lang}
		if s, ok := f.lang.above(h.heading); ok {
			old.open, now.open = []*scope{s}, []*scope{s}
		}
		for _, x := range h.lines {
			switch x.op {
			case '-':
				x.in = old.step(x)
			case '+':
				x.in = now.step(x)
			default:
				old.step(x)
				x.in = now.step(x)
			}
		}
	}
}

// above parses what git shows after the "@@" of a hunk: the function that the hunk begins
// in.
func (l *language) above(heading string) (*scope, bool) {
	if heading == "" {
		return nil, false
	}
	x := &line{text: heading, op: ' '}
	x.parts, _ = l.split(heading, nil)
	s := l.senseOf(x, true)
	return &scope{test: s.declares, begin: x}, s.begins
}

// A walk goes down one side of a file.
type walk struct {
	lang   *language
	open   []*scope
	marked int  // lines for which a mark still counts
	tested bool // everything below is tests
}

// step reads a line and returns the scope that it is in.
func (w *walk) step(x *line) *scope {
	if x.marks {
		w.marked = 8
	}
	w.marked--
	if text := strings.TrimSpace(x.code); text != "" && !x.quoted && !goesOn(text) {
		in := wording.Indent(x.text)
		for len(w.open) > 0 && w.open[len(w.open)-1].indent >= in {
			w.open = w.open[:len(w.open)-1]
		}
	}
	around := w.innermost()
	w.tested = w.tested || x.tests
	x.tested = w.tested
	if x.begins && !x.quoted {
		w.open, w.marked = append(w.open, w.begun(x)), 0
	}
	return around
}

// goesOn reports whether a line belongs to a function despite its indentation.
func goesOn(text string) bool {
	return text[0] == ')' || text[0] == ']' || strings.HasPrefix(text, "rescue")
}

// begun returns the scope that a line begins.
func (w *walk) begun(x *line) *scope {
	text := strings.TrimSpace(x.code)
	s := &scope{begin: x, indent: wording.Indent(x.text), class: strings.HasPrefix(text, "class ")}
	switch {
	case strings.HasPrefix(text, "func init("):
		s.test = "init"
	case x.declares != "" && (w.lang.Mark == nil || w.marked >= 0):
		s.test = x.declares
		x.unrun = !s.class && w.lang.Unrun.match(x.code)
	case w.lang.Part.match(x.code) && x.op != '+':
		s.test = "a part"
	}
	return s
}

func (w *walk) innermost() *scope {
	if len(w.open) == 0 {
		return nil
	}
	return w.open[len(w.open)-1]
}
