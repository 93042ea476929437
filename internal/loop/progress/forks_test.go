package progress

import (
	"testing"

	"codeloops/internal/loop"
)

// TestOpenForks: a fork that is opened twice counts once, and closing one also closes the forks
// inside it.
func TestOpenForks(t *testing.T) {
	t.Parallel()
	var forks Forks
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
		if forks.Follow(loop.Noted{Name: e.name, Text: e.fork}); len(forks) != e.open {
			t.Errorf("after %s of %s: %v, want %d open", e.name, e.fork, forks, e.open)
		}
	}
}

// TestForkOfAStep: a step belongs to the innermost fork that its name lies in, and an iteration to
// the innermost open fork.
func TestForkOfAStep(t *testing.T) {
	t.Parallel()
	var forks Forks
	for _, step := range []string{"attempt_1", "attempt_1.work", "level_1.candidate_2.fork"} {
		forks.Follow(loop.Noted{Name: loop.NoteForked, Text: step})
	}
	before := forks
	for step, want := range map[loop.Step]loop.Step{
		"start": "", "best": "", "attempt_10.best": "",
		"attempt_1.apply_1": "attempt_1", "attempt_1.work.plan_1.step_1.end": "attempt_1.work",
		"level_1.candidate_2.turn": "level_1.candidate_2.fork", "level_1.candidate_1.turn": "",
		"7.capture": "level_1.candidate_2.fork",
	} {
		if got := forks.Of(step); got != want {
			t.Errorf("%s lies in %q, want %q", step, got, want)
		}
	}
	forks.Follow(loop.Noted{Name: loop.NoteForkDiscarded, Text: "level_1.candidate_2.fork"})
	if got := forks.Of("7.capture"); got != "attempt_1.work" || before.Of("7.capture") == got {
		t.Errorf("the iteration lies in %q", got)
	}
}

// TestChangeOfForks: the changes in a fork count for the work tree once it is applied, and never if
// it is discarded.
func TestChangeOfForks(t *testing.T) {
	t.Parallel()
	applied := change(2, 2, 0)
	applied.State = "s"
	note := func(name string, c loop.Change) loop.Event {
		return loop.Noted{Name: name, Text: "attempt_1", Change: c}
	}
	for name, c := range map[string]struct {
		of    loop.Step
		ends  loop.Event
		files int
	}{
		"left open":   {"attempt_1", loop.Finished{}, 1},
		"thrown away": {"attempt_1", note(loop.NoteForkDiscarded, loop.Change{}), 1},
		"applied":     {"attempt_1", note(loop.NoteForkApplied, applied), 2},
		"in part":     {"apply_1", note(loop.NoteApplied, applied), 2},
		"within":      {"attempt_1.apply_1", note(loop.NoteApplied, applied), 1},
	} {
		var s State
		for _, e := range []struct {
			step loop.Step
			e    loop.Event
		}{
			{"1.capture", loop.DiffCaptured{Iteration: 1, Change: change(1, 1, 0)}},
			{"attempt_1", note(loop.NoteForked, loop.Change{})},
			{"2.actor", loop.ActorFinished{Iteration: 2}},
			{"2.capture", loop.DiffCaptured{Iteration: 2, Change: change(5, 5, 0)}},
			{"2", loop.IterationFinished{Round: loop.Round{Iteration: 2, Change: change(5, 5, 0)}}},
			{c.of, c.ends},
		} {
			_ = s.Handle(loop.Stamp{Step: e.step}, e.e)
		}
		if s.FilesChanged != c.files || s.Change == nil || s.Change.Files != c.files {
			t.Errorf("%s: %d files, %+v", name, s.FilesChanged, s.Change)
		}
	}
}

// TestUnknownChange: after an agent has written to the work tree, the change is unknown until the
// next capture. Writing to a fork does not matter.
func TestUnknownChange(t *testing.T) {
	t.Parallel()
	for step, known := range map[loop.Step]bool{"round_1.mine": false, "attempt_1.candidate": true} {
		for access, known := range map[loop.Access]bool{loop.Write: known, loop.ReadOnly: true} {
			var s State
			_ = s.Handle(loop.Stamp{Step: "1.capture"}, loop.DiffCaptured{Iteration: 1})
			_ = s.Handle(loop.Stamp{Step: "attempt_1"}, loop.Noted{Name: loop.NoteForked, Text: "attempt_1"})
			_ = s.Handle(loop.Stamp{Step: step}, loop.TurnFinished{Access: access})
			if (s.Change != nil) != known {
				t.Errorf("%s, %s: %v", step, access, s.Change)
			}
		}
	}
}
