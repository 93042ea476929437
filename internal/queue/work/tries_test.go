package work

import (
	"errors"
	"slices"
	"testing"
)

// What fails again and again is told once, until it fails in another way.
func TestNews(t *testing.T) {
	t.Parallel()
	tries := newTries()
	var told []bool
	for _, what := range []string{"away", "away", "refused", "away", "", "away"} {
		var err error
		if what != "" {
			err = errors.New(what)
		}
		told = append(told, tries.news("task", err))
	}
	if want := []bool{true, false, true, true, false, true}; !slices.Equal(told, want) {
		t.Errorf("told: %v, want %v", told, want)
	}
}
