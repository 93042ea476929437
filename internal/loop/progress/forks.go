package progress

import (
	"slices"

	"codeloops/internal/loop"
)

// Forks are the open forks of a run, in the order in which they were opened. What is done in a
// fork is not in the original work tree until the fork is applied. A fork that was open when the
// run ended is opened again when the session is resumed. The zero value is none; a copy is a
// snapshot.
type Forks []loop.Step

// Follow takes the next note of the run. Closing a fork also closes the forks within it.
func (f *Forks) Follow(e loop.Noted) {
	step := loop.Step(e.Text)
	switch e.Name {
	case loop.NoteForked:
		if !slices.Contains(*f, step) {
			*f = append(slices.Clip(*f), step)
		}
	case loop.NoteForkApplied, loop.NoteForkDiscarded:
		*f = slices.DeleteFunc(slices.Clone(*f), func(open loop.Step) bool { return open.In(step) })
	}
}

// Of returns the innermost fork in which a step is played, "" for the user's own work tree.
// Iterations never run concurrently.
func (f Forks) Of(step loop.Step) loop.Step {
	for _, fork := range slices.Backward(f) {
		if step.Iteration() > 0 || step.In(fork.Forks()) {
			return fork
		}
	}
	return ""
}

// Captured returns what an event, already followed, says about the user's own work tree. Changes
// in a fork count once it is applied.
func (f Forks) Captured(at loop.Stamp, e loop.Event) (c loop.Change, ok bool) {
	switch e := e.(type) { //nolint:gochecksumtype // no other event holds a capture
	case loop.DiffCaptured:
		c, ok = e.Change, true
	case loop.IterationFinished:
		c, ok = e.Round.Change, true
	case loop.Noted: // older logs do not have the change
		c, ok = e.Change, (e.Name == loop.NoteForkApplied || e.Name == loop.NoteApplied) && e.Change.State != ""
	}
	return c, ok && f.Of(at.Step) == ""
}

// Takes reports whether an event, already followed, puts the result of the last whole iteration
// into the user's own work tree.
func (f Forks) Takes(at loop.Stamp, e loop.Event) bool {
	_, ok := f.Captured(at, e)
	_, underWay := e.(loop.DiffCaptured)
	return ok && !underWay
}
