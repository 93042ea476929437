package session

import (
	"testing"

	"codeloops/internal/loop"
)

// TestOpenForks: a fork that is opened again is one, and one that is closed takes those along that it was
// left with.
func TestOpenForks(t *testing.T) {
	t.Parallel()
	var forks openForks
	for _, e := range []struct {
		name, fork string
		open       int
	}{
		{loop.NoteForked, "work", 1},
		{loop.NoteForked, "work.step_1", 2},
		{loop.NoteForked, "work", 2},
		{loop.NoteForked, "working", 3},
		{loop.NoteApplied, "work", 3},
		{loop.NoteForkDiscarded, "work", 1},
		{loop.NoteForkApplied, "working", 0},
	} {
		if forks.follow(loop.Noted{Name: e.name, Text: e.fork}); len(forks) != e.open {
			t.Errorf("after %s of %s: %v, want %d open", e.name, e.fork, forks, e.open)
		}
	}
}
