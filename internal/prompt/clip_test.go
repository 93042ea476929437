package prompt_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"codeloops/internal/prompt"
)

// slack is the length of the line that marks a cut; it may exceed a very small budget.
const slack = 128

func TestClip(t *testing.T) {
	t.Parallel()
	lines := strings.Repeat("0123456789\n", 100)
	for name, c := range map[string]struct {
		text         string
		budget, head int
		want         string
	}{
		"fits":      {text: "abc\n", budget: 4, want: "abc\n"},
		"empty":     {text: "", budget: 0, want: ""},
		"no room":   {text: lines, budget: 20, head: 10, want: "[... 1100 bytes (100 lines) left out here ...]\n"},
		"head":      {text: lines, budget: 128 + 22, head: 22, want: "0123456789\n0123456789\n[... 1078 bytes (98 lines) left out here ...]\n"},
		"tail":      {text: lines, budget: 128 + 22, head: 0, want: "[... 1089 bytes (99 lines) left out here ...]\n0123456789\n"},
		"both":      {text: lines, budget: 128 + 30, head: 12, want: "0123456789\n[... 1078 bytes (98 lines) left out here ...]\n0123456789\n"},
		"one line":  {text: strings.Repeat("x", 300), budget: 128 + 7, head: 4, want: "xxxx\n[... 293 bytes (1 line) left out here ...]\nxxx"},
		"character": {text: strings.Repeat("€", 100), budget: 128 + 10, head: 5, want: "€\n[... 291 bytes (1 line) left out here ...]\n€€"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := prompt.Clip(c.text, c.budget, c.head); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func FuzzClip(f *testing.F) {
	f.Add("a\nb\nc\n", 3, 1)
	f.Add(strings.Repeat("é€😀\n", 60), 200, 50)
	f.Add(strings.Repeat("é€😀", 60), 200, 9)
	f.Add("\x80\x80\xff"+strings.Repeat("x", 300), 150, 20)
	f.Fuzz(func(t *testing.T, text string, budget, head int) {
		got := prompt.Clip(text, budget, head)
		if got == text {
			return
		}
		if len(text) <= budget {
			t.Errorf("cut although it fits: %q", got)
		}
		if len(got) > max(budget, slack) {
			t.Errorf("%d bytes for a budget of %d", len(got), budget)
		}
		if utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Errorf("cut inside a character: %q", got)
		}
		first, rest, _ := strings.Cut(got, "[... ")
		_, last, named := strings.Cut(rest, " left out here ...]\n")
		if !strings.Contains(text, "[... ") && (!named || !strings.HasPrefix(text, strings.TrimSuffix(first, "\n")) || !strings.HasSuffix(text, last)) {
			t.Errorf("not the head and the tail of the text: %q", got)
		}
	})
}
