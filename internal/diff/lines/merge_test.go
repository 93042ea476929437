package lines_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"codeloops/internal/diff/lines"
)

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
		got, ok := lines.Merge([]byte(c.base), []byte(c.ours), []byte(c.theirs), true)
		if string(got) != c.want || ok != (c.want != "") {
			t.Errorf("%s: %q, %v, want %q", name, got, ok, c.want)
		}
		if _, ok := lines.Merge([]byte(c.base), []byte(c.ours), []byte(c.theirs), false); ok != (name == "apart" || name == "both do the same") {
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
	merged := 0
	for range 2000 {
		base := text("1\n2\n3\n4\n5\n6\n7\n8\n9\n")
		ours, theirs := text(base), text(base)
		got, ok := lines.Merge([]byte(base), []byte(ours), []byte(theirs), true)
		turned, alike := lines.Merge([]byte(base), []byte(theirs), []byte(ours), true)
		if ok != alike || string(got) != string(turned) {
			t.Fatalf("%q, %q on %q: %q, and the other way round %q", ours, theirs, base, got, turned)
		}
		if same, ok := lines.Merge([]byte(base), []byte(base), []byte(theirs), true); !ok || string(same) != theirs {
			t.Fatalf("%q on %q: %q", theirs, base, same)
		}
		if ok {
			merged++
		}
	}
	if merged < 200 {
		t.Errorf("only %d merged", merged)
	}
}
