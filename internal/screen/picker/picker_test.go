package picker

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"codeloops/internal/screen/term"
)

// listOf is a list of n things, of which every tenth is red.
func listOf(n int) *model {
	name := func(i int) string {
		if i%10 == 0 {
			return fmt.Sprintf("Red thing %d", i)
		}
		return fmt.Sprintf("thing %d 漢字 👩‍👩‍👧", i)
	}
	style := lipgloss.NewRenderer(io.Discard, termenv.WithProfile(termenv.ANSI))
	return newModel(List{
		Count:   n,
		Search:  name,
		Line:    func(i, width int) string { return ansi.Truncate(name(i)+strings.Repeat(" long", 30), width, "…") },
		Preview: func(i, _ int) []string { return strings.Split(strings.Repeat(name(i)+"\n", 40), "\n") },
	}, Options{Style: style, Title: "Which one?"})
}

func press(m *model, keys ...string) *model {
	for _, key := range keys {
		sent, named := map[string]string{
			"enter": "\r", "esc": "\x1b", "up": "\x1b[A", "down": "\x1b[B", "pgup": "\x1b[5~", "pgdown": "\x1b[6~",
			"home": "\x1b[H", "end": "\x1b[F", "backspace": "\x7f",
			"ctrl+n": "\x0e", "ctrl+p": "\x10", "ctrl+c": "\x03", "ctrl+u": "\x15", "ctrl+w": "\x17",
		}[key]
		if !named {
			sent = key
		}
		m.press(sent)
	}
	return m
}

func TestKeys(t *testing.T) {
	t.Parallel()
	rows := listOf(1000).rows()
	for name, c := range map[string]struct {
		keys []string
		want int // -1 means nothing
	}{
		"the first":          {nil, 0},
		"down":               {[]string{"down", "ctrl+n", "down", "up"}, 2},
		"above the first":    {[]string{"down", "ctrl+p", "ctrl+p", "up"}, 0},
		"end":                {[]string{"end"}, 999},
		"below the last":     {[]string{"end", "down", "pgdown"}, 999},
		"pages":              {[]string{"pgdown", "pgdown", "pgup"}, rows},
		"home":               {[]string{"end", "home"}, 0},
		"typed":              {[]string{"r", "e", "d", "down"}, 10},
		"words":              {[]string{"7", "0", " ", "E", "d"}, 70},
		"stays marked":       {[]string{"end", "up", "9", "9", "8"}, 998},
		"taken back":         {[]string{"x", "y", "z", "backspace", "backspace", "backspace", "down"}, 1},
		"word taken back":    {[]string{"r", "e", "d", " ", "x", "ctrl+w", "down"}, 10},
		"all taken back":     {[]string{"x", "ctrl+u", "down"}, 1},
		"nothing fits":       {[]string{"x", "y"}, -1},
		"no control":         {[]string{"\x1b[200~", "\x1b[2J", "\x1b[201~", "r", "e", "d"}, -1},
		"no key of the list": {[]string{"\x1b[3~", "\t", "r", "e", "d", "down"}, 10},
		"keys of others":     {[]string{"\x1bOB", "\x1b[4~", "\x1bOA", "\x1b[1~", "\x1bOB"}, 1},
		"letters of others":  {[]string{"漢", "down"}, 2},
	} {
		m := press(listOf(1000), append(c.keys, "enter")...)
		got := -1
		if m.left == chosen {
			got = m.matches[m.at]
		}
		if got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
	for _, key := range []string{"esc", "ctrl+c"} {
		if m := press(listOf(3), key); m.left != cancelled {
			t.Errorf("%s: left as %v", key, m.left)
		}
	}
}

func TestPaste(t *testing.T) {
	t.Parallel()
	m := press(listOf(1000), term.PasteBegins, "r", "e", "d", "\r", "\x1b", " ", "5", "0", term.PasteEnds)
	if m.filter != "red 50" || len(m.matches) != 11 || m.left != stays {
		t.Errorf("%q leaves %d", m.filter, len(m.matches))
	}
}

// TestFits formats the list for every size of a terminal.
func TestFits(t *testing.T) {
	t.Parallel()
	for _, count := range []int{1, 7, 60} {
		for _, height := range []int{1, 2, 3, 4, 5, 8, 13, 14, 24, 40} {
			for _, width := range []int{1, 2, 3, 4, 5, 9, 20, 60, 131} {
				m := listOf(count)
				m.width, m.height, m.opts.ASCII = width, height, count == 7
				lines := press(m, "down", "down", "pgdown").lines()
				if m.opts.ASCII && strings.ContainsAny(strings.Join(lines, ""), "…─↑") {
					t.Fatalf("%dx%d: not ASCII: %q", width, height, lines)
				}
				if len(lines) != height {
					t.Fatalf("%dx%d: %d lines", width, height, len(lines))
				}
				for _, line := range lines {
					if ansi.StringWidth(line) > width {
						t.Fatalf("%dx%d: %q", width, height, line)
					}
				}
				if marked := "> " + ansi.Truncate(m.list.Line(m.matches[m.at], width-2), width-2, ""); height > 3 && width > 4 &&
					!strings.Contains(ansi.Strip(strings.Join(lines, "\n")), strings.TrimRight(ansi.Truncate(marked, width-2, ""), " …~")) {
					t.Fatalf("%dx%d: the marked item is not visible:\n%s", width, height, ansi.Strip(strings.Join(lines, "\n")))
				}
			}
		}
	}
}

func BenchmarkTyping(b *testing.B) {
	m := listOf(10_000)
	for b.Loop() {
		press(m, "t", "h", "i", "n", "g", " ", "9", "ctrl+u")
		_ = m.lines()
	}
}
