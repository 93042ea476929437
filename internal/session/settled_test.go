package session

import (
	"os"
	"path/filepath"
	"testing"

	"codeloops/internal/loop"
)

// TestSettledByForks: the checkpoint of the work tree does not include a fork's work until the fork
// is applied.
func TestSettledByForks(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log.jsonl")
	log, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	note := func(name string, c loop.Change) loop.Event {
		return loop.Noted{Name: name, Text: "attempt_1", Change: c}
	}
	var s Settled
	for i, line := range []struct {
		e          loop.Event
		checkpoint string
		lacks      bool
	}{
		{loop.Started{Session: loop.Session{Base: loop.Base{Checkpoint: "start"}}}, "start", false},
		{note(loop.NoteForked, loop.Change{}), "start", false},
		{loop.ActorFinished{Iteration: 1, Attempt: loop.Attempt{Turn: loop.Turn{Try: loop.Try{Ending: loop.EndCompleted}}}}, "start", true},
		{loop.DiffCaptured{Iteration: 1, Change: loop.Change{State: "f", Checkpoint: "fork"}}, "start", true},
		{note(loop.NoteForkApplied, loop.Change{State: "a", Checkpoint: "applied"}), "applied", false},
		{note(loop.NoteForkApplied, loop.Change{}), "applied", true}, // a log that does not say what the state was then
		{loop.DiffCaptured{Iteration: 2, Change: loop.Change{State: "t", Checkpoint: "tree"}}, "tree", false},
	} {
		if _, err := log.Write(Encode(stamped(i+1), line.e)); err != nil {
			t.Fatal(err)
		}
		if err := s.Read(path); err != nil || s.Checkpoint != line.checkpoint || s.Lacks != line.lacks {
			t.Errorf("line %d: the checkpoint is %q, lacks work: %t, %v", i+1, s.Checkpoint, s.Lacks, err)
		}
	}
}
