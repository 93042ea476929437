package guess

import (
	"slices"
	"strings"
	"testing"
)

// TestHabits: no alias from other tools is the name of a command of codeloops.
func TestHabits(t *testing.T) {
	t.Parallel()
	for _, h := range Habits() {
		for word := range strings.FieldsSeq(h.Words) {
			if slices.Contains(strings.Fields(ourWords), word) {
				t.Errorf("%q is a command and an alias", word)
			}
		}
	}
}
