package progress

import (
	"slices"

	"codeloops/internal/loop"
)

// Forks are those of a run that are open, in the order in which they were opened: what is done in
// one is not in the work tree that it was made of, until it is applied. One that a run has left
// open is opened again by whoever carries the session on. The zero value is none; a copy is a
// snapshot.
type Forks []loop.Step

// Follow takes the next note of the run. A fork that is closed takes those along that were left
// open in it.
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

// Of returns the innermost fork in which a step is played, "" for the user's own work tree. No two
// iterations are played at the same time.
func (f Forks) Of(step loop.Step) loop.Step {
	for _, fork := range slices.Backward(f) {
		if step.Iteration() > 0 || step.In(fork.Forks()) {
			return fork
		}
	}
	return ""
}

// Captured returns what an event that has been followed says of the user's own work tree. What a
// fork has changed counts once it is applied.
func (f Forks) Captured(at loop.Stamp, e loop.Event) (c loop.Change, ok bool) {
	switch e := e.(type) { //nolint:gochecksumtype // no other one holds what was captured
	case loop.DiffCaptured:
		c, ok = e.Change, true
	case loop.IterationFinished:
		c, ok = e.Round.Change, true
	case loop.Noted: // older logs do not say what was there then
		c, ok = e.Change, (e.Name == loop.NoteForkApplied || e.Name == loop.NoteApplied) && e.Change.State != ""
	}
	return c, ok && f.Of(at.Step) == ""
}

// Takes reports whether, by an event that has been followed, the user's own work tree has what the
// last whole iteration came to.
func (f Forks) Takes(at loop.Stamp, e loop.Event) bool {
	_, ok := f.Captured(at, e)
	_, underWay := e.(loop.DiffCaptured)
	return ok && !underWay
}
