package sessionview

import (
	"fmt"
	"io"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/screen/render"
	"codeloops/internal/screen/term"
)

// A Sheet is what is written for a person, row by row. The first error stands, and what
// comes after it is not written.
type Sheet struct {
	Out    io.Writer
	Screen Screen
	Full   bool // texts whole, and diffs

	err error
}

func (s *Sheet) sayf(format string, args ...any) {
	if s.err == nil {
		_, s.err = fmt.Fprintf(s.Out, format+"\n", args...)
	}
}

func (s *Sheet) strong(text string) string {
	return s.Screen.Style.NewStyle().Bold(true).Render(text)
}

func (s *Sheet) faint(text string) string {
	return s.Screen.Style.NewStyle().Faint(true).Render(text)
}

func (s *Sheet) rowf(name, format string, args ...any) {
	s.sayf("  %-10s %s", name, fmt.Sprintf(format, args...))
}

// block writes a text under a heading, in short or whole.
func (s *Sheet) block(heading, text string, most int) {
	s.lines(heading, text, render.Excerpt(text, most, s.Screen.Width-6))
}

// ending is block with the last lines.
func (s *Sheet) ending(text string, most int) {
	s.lines("", text, render.Tail(text, most, s.Screen.Width-6))
}

func (s *Sheet) lines(heading, text string, lines []string) {
	if s.Full {
		lines = strings.Split(strings.TrimRight(term.Clean(text), "\n"), "\n")
	}
	if strings.TrimSpace(text) == "" {
		return
	}
	if heading != "" {
		s.sayf("  %s", s.faint(heading))
	}
	for _, line := range lines {
		s.sayf("%s", strings.TrimRight("    "+line, " "))
	}
}

func (s *Sheet) leftovers(t loop.Turn) {
	for _, p := range t.Leftovers {
		s.rowf("", "left running, ended: %s", term.Line(p.Command))
	}
}

func (s *Sheet) missed(t loop.Turn) {
	for _, line := range render.Misses(t) {
		s.rowf("", "%s", line)
	}
}

func (s *Sheet) omitted(o loop.Output) {
	if o.Omitted > 0 {
		s.sayf("    %s", s.faint(fmt.Sprintf("%d of %d bytes are not in the log; all of it: %s", o.Omitted, o.Total, term.Line(o.File))))
	}
}
