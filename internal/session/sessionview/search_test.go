package sessionview

import (
	"io"
	"strings"
	"testing"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"

	"codeloops/internal/loop"
	"codeloops/internal/session"
)

func TestExcerpt(t *testing.T) {
	t.Parallel()
	words := strings.Repeat("word é ", 40)
	for name, c := range map[string]struct {
		text  string
		width int
		want  string
	}{
		"short":             {"a here b", 40, "a here b"},
		"lines":             {"a\n\there\r\n b", 40, "a here b"},
		"in the middle":     {words + "here and on", 40, "…é word é here and on"},
		"cut at both ends":  {words + "here " + words, 30, "…word é here word é word é wo…"},
		"one long word":     {strings.Repeat("é", 60) + "here", 24, "…ééééhere"},
		"controls":          {"a \x1b[31mhere\x1b[0m\a b", 40, "a here b"},
		"at a control":      {strings.Repeat("x", 50) + " \x1b[31mhere", 30, "…here"},
		"nothing before it": {"here " + words, 12, "here word é…"},
	} {
		at := strings.Index(c.text, "here")
		got := excerpt(session.Match{Text: c.text, Begin: at}, c.width)
		if got != c.want || ansi.StringWidth(got) > c.width {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestFound(t *testing.T) {
	t.Parallel()
	one := session.Overview{ID: "2025-01-27T15-30-45Z_d4f2aa", Session: loop.Session{WorkingDir: "/home/user/project"}, Status: session.Crashed}
	found := []session.Found{{Overview: one, Matches: []session.Match{
		{Place: session.InPrompt, Text: "fix the parser", Begin: 8},
		{Place: session.InFile, Iteration: 12, Text: "src/\x1b[31mparser.go", Begin: 9},
	}}}
	for width, want := range map[int]string{
		80: "2025-01-27T15-30-45Z_d4f2aa  project  crashed\n       prompt    fix the parser\n   12  file      src/parser.go\n",
		20: "2025-01-27T15-30-45…\n       prompt    …the parser\n   12  file      …parser.go\n",
	} {
		var b strings.Builder
		s := Screen{Width: width, Style: lipgloss.NewRenderer(io.Discard)}
		if err := s.Found(&b, found); err != nil || b.String() != want {
			t.Errorf("%d columns: %v\n got %q\nwant %q", width, err, b.String(), want)
		}
		b.Reset()
		s.ASCII = true
		if err := s.Found(&b, found); err != nil || b.String() != strings.ReplaceAll(want, "…", "~") {
			t.Errorf("%d columns, in ASCII: %v, %q", width, err, b.String())
		}
	}
}
