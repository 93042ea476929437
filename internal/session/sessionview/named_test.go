package sessionview

import (
	"testing"

	"codeloops/internal/loop"
)

// TestNamed compares names with the output of `git diff -M --stat`.
func TestNamed(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{
		{"", "a", "a"},
		{"f", "top", "f => top"},
		{"x/y/f", "f3", "x/y/f => f3"},
		{"a/b/c/g", "a/q/c/g", "a/{b => q}/c/g"},
		{"a/b/f", "a/f", "a/{b => }/f"},
		{"a/f", "a/b/f", "a/{ => b}/f"},
		{"f", "a/f", "f => a/f"},
		{"a/f", "f", "a/f => f"},
		{"a/b/f", "a/z", "a/{b/f => z}"},
		{"a/b/f", "c/b/f", "{a => c}/b/f"},
		{"a/a/f", "a/f", "a/{a => }/f"},
		{"a\nb", "c", `"a\nb" => c`},
	} {
		if got := named(loop.FileChange{OldPath: c[0], Path: c[1]}); got != c[2] {
			t.Errorf("%q to %q: %q, want %q", c[0], c[1], got, c[2])
		}
	}
}
