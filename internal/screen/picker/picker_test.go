package picker

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"
)

// shelf is a list of n things; the tenth of them are red.
func shelf(n int) model {
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

func press(m model, keys ...string) (model, tea.Cmd) {
	var cmd tea.Cmd
	for _, key := range keys {
		msg := tea.KeyPressMsg{Text: key}
		switch key {
		case "enter":
			msg = tea.KeyPressMsg{Code: tea.KeyEnter}
		case "esc":
			msg = tea.KeyPressMsg{Code: tea.KeyEscape}
		case "up":
			msg = tea.KeyPressMsg{Code: tea.KeyUp}
		case "down":
			msg = tea.KeyPressMsg{Code: tea.KeyDown}
		case "pgup":
			msg = tea.KeyPressMsg{Code: tea.KeyPgUp}
		case "pgdown":
			msg = tea.KeyPressMsg{Code: tea.KeyPgDown}
		case "home":
			msg = tea.KeyPressMsg{Code: tea.KeyHome}
		case "end":
			msg = tea.KeyPressMsg{Code: tea.KeyEnd}
		case "backspace":
			msg = tea.KeyPressMsg{Code: tea.KeyBackspace}
		case "ctrl+n", "ctrl+p", "ctrl+c", "ctrl+u", "ctrl+w":
			msg = tea.KeyPressMsg{Code: rune(key[len(key)-1]), Mod: tea.ModCtrl}
		}
		var next tea.Model
		next, cmd = m.Update(msg)
		m = next.(model)
	}
	return m, cmd
}

func TestKeys(t *testing.T) {
	t.Parallel()
	rows := shelf(1000).rows()
	for name, c := range map[string]struct {
		keys []string
		want int // -1: nothing
	}{
		"the first":         {nil, 0},
		"down":              {[]string{"down", "ctrl+n", "down", "up"}, 2},
		"above the first":   {[]string{"down", "ctrl+p", "ctrl+p", "up"}, 0},
		"end":               {[]string{"end"}, 999},
		"below the last":    {[]string{"end", "down", "pgdown"}, 999},
		"pages":             {[]string{"pgdown", "pgdown", "pgup"}, rows},
		"home":              {[]string{"end", "home"}, 0},
		"typed":             {[]string{"r", "e", "d", "down"}, 10},
		"words":             {[]string{"7", "0", " ", "E", "d"}, 70},
		"stays marked":      {[]string{"end", "up", "9", "9", "8"}, 998},
		"taken back":        {[]string{"x", "y", "z", "backspace", "backspace", "backspace", "down"}, 1},
		"word taken back":   {[]string{"r", "e", "d", " ", "x", "ctrl+w", "down"}, 10},
		"all taken back":    {[]string{"x", "ctrl+u", "down"}, 1},
		"nothing fits":      {[]string{"x", "y"}, -1},
		"no control":        {[]string{"\x1b[2J", "r", "e", "d"}, -1},
		"letters of others": {[]string{"漢", "down"}, 2},
	} {
		m, cmd := press(shelf(1000), append(c.keys, "enter")...)
		got := -1
		if m.left == chosen {
			got = m.matches[m.at]
		}
		if got != c.want || (m.left == chosen) != (cmd != nil) {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
	for _, key := range []string{"esc", "ctrl+c"} {
		if m, cmd := press(shelf(3), key); m.left != cancelled || cmd == nil {
			t.Errorf("%s: left as %v", key, m.left)
		}
	}
}

func TestPaste(t *testing.T) {
	t.Parallel()
	next, _ := shelf(1000).Update(tea.PasteMsg{Content: "red\n 50"})
	if m := next.(model); m.filter != "red 50" || len(m.matches) != 11 {
		t.Errorf("%q leaves %d", m.filter, len(m.matches))
	}
}

// TestFits lays the list out for every size of a terminal.
func TestFits(t *testing.T) {
	t.Parallel()
	for _, count := range []int{1, 7, 60} {
		for _, height := range []int{1, 2, 3, 4, 5, 8, 13, 14, 24, 40} {
			for _, width := range []int{1, 2, 3, 4, 5, 9, 20, 60, 131} {
				next, _ := shelf(count).Update(tea.WindowSizeMsg{Width: width, Height: height})
				m, _ := press(next.(model), "down", "down", "pgdown")
				lines := strings.Split(m.View().Content, "\n")
				if len(lines) > height {
					t.Fatalf("%dx%d: %d lines", width, height, len(lines))
				}
				for _, line := range lines {
					if ansi.StringWidth(line) > width {
						t.Fatalf("%dx%d: %q", width, height, line)
					}
				}
				if marked := "> " + ansi.Truncate(m.list.Line(m.matches[m.at], width-2), width-2, ""); height > 3 && width > 4 &&
					!strings.Contains(ansi.Strip(m.View().Content), strings.TrimRight(ansi.Truncate(marked, width-2, ""), " …")) {
					t.Fatalf("%dx%d: what is marked is not seen:\n%s", width, height, ansi.Strip(m.View().Content))
				}
			}
		}
	}
}

func BenchmarkTyping(b *testing.B) {
	m := shelf(10_000)
	for b.Loop() {
		m, _ = press(m, "t", "h", "i", "n", "g", " ", "9", "ctrl+u")
		_ = m.View()
	}
}

// TestLoad asks for more about what stays marked, and tells when nobody waits
// for it any more.
func TestLoad(t *testing.T) {
	t.Parallel()
	var loads []int
	var last context.Context
	m := shelf(1000)
	m.loader = newLoader(t.Context(), func(ctx context.Context, i int) { loads, last = append(loads, i), ctx })
	// rest lets a moment go by after a command.
	rest := func(cmd tea.Cmd) tea.Cmd {
		t.Helper()
		if cmd == nil {
			t.Fatal("nothing is waited for")
		}
		next, load := m.Update(cmd())
		m = next.(model)
		return load
	}
	load := rest(m.Init())
	if msg := load(); msg != (loadedMsg{}) || !slices.Equal(loads, []int{0}) {
		t.Fatalf("%v, %v", msg, loads)
	}
	if last.Err() == nil {
		t.Error("what has been read is still being read")
	}

	// Whoever goes past something does not ask for it.
	m, first := press(m, "down")
	m, second := press(m, "down")
	if cmd := rest(first); cmd != nil {
		t.Error("what is not marked any more is asked for")
	}
	load = rest(second)
	if m, cmd := press(m, "up", "down"); cmd == nil || m.loader.at != 2 {
		t.Error("what is marked again is not asked for again")
	}
	load()
	if !slices.Equal(loads, []int{0, 2}) || last.Err() == nil {
		t.Errorf("%v, %v: it goes on for nobody", loads, last.Err())
	}
	if _, cmd := press(m, "x", "y"); cmd != nil || m.loader.at != -1 {
		t.Error("nothing is marked, and asked for")
	}
}
