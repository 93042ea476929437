package guess

import (
	"slices"
	"strings"
	"testing"
)

// TestHabits: what means a command is no word of ours as well.
func TestHabits(t *testing.T) {
	t.Parallel()
	for _, h := range Habits() {
		for word := range strings.FieldsSeq(h.Words) {
			if slices.Contains(strings.Fields(ourWords), word) {
				t.Errorf("%q is named twice", word)
			}
		}
	}
}
