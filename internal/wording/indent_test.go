package wording

import "testing"

func TestIndent(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]int{"": 0, "x": 0, "  x": 2, "\tx": 4, "  \tx": 4, "\t x": 5, " \t\tx": 8, "   ": 3} {
		if got := Indent(line); got != want {
			t.Errorf("%q is indented by %d columns, want %d", line, got, want)
		}
	}
}
