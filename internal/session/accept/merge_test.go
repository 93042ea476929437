package accept

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func merged(t *testing.T, base, ours, theirs string, touching bool) (string, bool) {
	t.Helper()
	text, ok, err := merge(t.Context(), []byte(base), []byte(ours), []byte(theirs), touching)
	if err != nil {
		t.Fatal(err)
	}
	return string(text), ok
}

func TestMerge(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ base, ours, theirs, want string }{
		"apart":                     {"a\nu\nb\nc\nd\n", "a\nb\nc\nd\n", "a\nu\nb\nc\nd2\n", "a\nb\nc\nd2\n"},
		"behind the other's lines":  {"a\nu\n", "a\n", "a\nu\nr\n", "a\nr\n"},
		"before the other's lines":  {"a\nu\n", "a\n", "a\nr\nu\n", "a\nr\n"},
		"a line beside another":     {"a\nu\nc\n", "a\nb\nc\n", "a\nu\nC\n", "a\nb\nC\n"},
		"behind a changed line":     {"a\nu\nc\n", "a\nb\nc\n", "a\nu\nr\nc\n", "a\nb\nr\nc\n"},
		"the same line":             {"a\nu\nc\n", "a\nb\nc\n", "a\nr\nc\n", ""},
		"added where some went":     {"a\nc\n", "a\nb\nc\n", "a\nr\nc\n", ""},
		"both do the same":          {"a\nc\n", "a\nb\nc\n", "a\nb\nc\nd\n", "a\nb\nc\nd\n"},
		"no end of line to go on":   {"a\nu\n", "a", "a\nu\nr\n", ""},
		"within the other's lines":  {"a\nu\nv\n", "a\n", "a\nu\nr\nv\n", ""},
		"no line end, kept":         {"a\nb", "A\nb", "a\nc", "A\nc"},
		"all of it by one, to none": {"a\n", "", "a\nb\n", "b\n"},
	} {
		got, ok := merged(t, c.base, c.ours, c.theirs, true)
		if got != c.want || ok != (c.want != "") {
			t.Errorf("%s: %q, %v, want %q", name, got, ok, c.want)
		}
		if _, ok := merged(t, c.base, c.ours, c.theirs, false); ok != (name == "apart" || name == "both do the same") {
			t.Errorf("%s, not touching: %v", name, ok)
		}
	}
}

// TestMergeRandom: a change that is taken back from what it led to leaves the other.
func TestMergeRandom(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	text := func(from string) string {
		var b strings.Builder
		for line := range strings.Lines(from) {
			switch r.IntN(6) {
			case 0:
			case 1:
				b.WriteString(line + string(rune('a'+r.IntN(9))) + "\n")
			default:
				b.WriteString(line)
			}
		}
		return b.String()
	}
	count := 0
	for range 200 {
		base := text("1\n2\n3\n4\n5\n6\n7\n8\n9\n")
		ours, theirs := text(base), text(base)
		got, ok := merged(t, base, ours, theirs, true)
		turned, alike := merged(t, base, theirs, ours, true)
		if ok != alike || got != turned {
			t.Fatalf("%q, %q on %q: %q, and the other way round %q", ours, theirs, base, got, turned)
		}
		if same, ok := merged(t, base, base, theirs, true); !ok || same != theirs {
			t.Fatalf("%q on %q: %q", theirs, base, same)
		}
		if ok {
			count++
		}
	}
	if count < 20 {
		t.Errorf("only %d merged", count)
	}
}
