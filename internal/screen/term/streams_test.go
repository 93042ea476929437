package term

import (
	"bytes"
	"strings"
	"testing"

	"github.com/charmbracelet/lipgloss"
)

// TestNoColourElsewhere: output to anything but a terminal has no colours, even if the environment
// forces them.
func TestNoColourElsewhere(t *testing.T) { //nolint:paralleltest // it sets the environment
	for _, name := range []string{"CLICOLOR_FORCE", "COLORTERM"} {
		t.Setenv(name, "1")
	}
	s := New(nil, &bytes.Buffer{}, &bytes.Buffer{}, func(string) string { return "" })
	for _, r := range []interface{ NewStyle() lipgloss.Style }{s.ErrRenderer(), s.OutRenderer()} {
		if got := r.NewStyle().Bold(true).Render("x"); got != "x" {
			t.Errorf("%q", got)
		}
	}
}

// TestPlain: how the environment sets colours and symbols.
func TestPlain(t *testing.T) {
	t.Parallel()
	for set, want := range map[string]struct{ plain, ascii bool }{
		"":                {},
		"NO_COLOR=1":      {plain: true},
		"CI=true":         {plain: true},
		"TERM=dumb":       {plain: true, ascii: true},
		"LC_ALL=C":        {ascii: true},
		"LANG=de_DE.utf8": {},
	} {
		name, value, _ := strings.Cut(set, "=")
		s := New(nil, nil, nil, func(of string) string {
			if of == name {
				return value
			}
			return ""
		})
		if s.Plain != want.plain || s.ASCII != want.ascii {
			t.Errorf("%s: plain %t, ASCII %t", set, s.Plain, s.ASCII)
		}
	}
}
