package wording_test

import (
	"testing"

	"codeloops/internal/wording"
)

func TestNearest(t *testing.T) {
	t.Parallel()
	names := []string{"sessions", "resume", "replay", "run", "claude"}
	for word, want := range map[string]string{
		"sesions":  "sessions",
		"sessoins": "sessions",
		"cluade":   "claude",
		"rum":      "run",
		"fix":      "",
		"":         "",
		"zzzzzzzz": "",
	} {
		if got, ok := wording.Nearest(word, names); got != want || ok != (want != "") {
			t.Errorf("Nearest(%q) = %q, %v; want %q", word, got, ok, want)
		}
	}
}

func TestDistance(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"a", "", 1},
		{"", "abc", 3},
		{"abc", "abc", 0},
		{"abc", "acb", 1},
		{"abc", "abd", 1},
		{"abc", "xabc", 1},
		{"ca", "abc", 3},
		{"kitten", "sitting", 3},
	} {
		if got := wording.Distance(c.a, c.b); got != c.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
		if got := wording.Distance(c.b, c.a); got != c.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", c.b, c.a, got, c.want)
		}
	}
}
