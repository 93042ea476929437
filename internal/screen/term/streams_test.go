package term

import (
	"bytes"
	"strings"
	"testing"

	"github.com/charmbracelet/lipgloss"
)

// TestNoColour: NO_COLOR takes colours, and leaves every other style.
func TestNoColour(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{"": "\x1b[1;32mx\x1b[0m", "1": "\x1b[1mx\x1b[0m"} {
		s := New(nil, nil, nil, func(name string) string { return map[string]string{"NO_COLOR": value}[name] })
		s.OutTTY, s.ErrTTY = true, true
		for _, r := range []*lipgloss.Renderer{s.ErrRenderer(), s.OutRenderer()} {
			if got := r.NewStyle().Bold(true).Foreground(Colour("2")).Render("x"); got != want {
				t.Errorf("NO_COLOR=%s: %q", value, got)
			}
		}
	}
}

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
		"NO_COLOR=1":      {},
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
