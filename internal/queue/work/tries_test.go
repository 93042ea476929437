package work

import (
	"errors"
	"slices"
	"testing"
)

// A repeated failure is reported once, until the error changes.
func TestNews(t *testing.T) {
	t.Parallel()
	var tries said
	var told []bool
	for _, what := range []string{"away", "away", "refused", "away", "", "away"} {
		var err error
		if what != "" {
			err = errors.New(what)
		}
		told = append(told, tries.news("task", err))
	}
	if want := []bool{true, false, true, true, false, true}; !slices.Equal(told, want) {
		t.Errorf("reported: %v, want %v", told, want)
	}
}
