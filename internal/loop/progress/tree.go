package progress

import (
	"slices"

	"codeloops/internal/loop"
)

// A Tree is what the events tell of the session's own work tree, as opposed to its forks.
type Tree struct {
	// State and Checkpoint are those of the last capture; "" before the first, and once a step may
	// have written to the tree since.
	State      string
	Checkpoint string
	// Forked are the states that were captured in forks since then. One of them may have been applied
	// to the tree without a line about it.
	Forked []string
	// Captures are the last captures of each iteration, oldest first.
	Captures []Capture
	// Unjudged is the checkpoint of the open iteration; "" if that has none.
	Unjudged string
	// Settled is the last checkpoint that was kept while no fork was open. Lacks: it does not hold what
	// was done since, which is not done again when the session is resumed.
	Settled string
	Lacks   bool
	// Change is the size of the change since the session began; nil if nobody has looked since an agent
	// worked there.
	Change *loop.Shape
}

// A Capture is a state of the work tree that was kept.
type Capture struct {
	Iteration  int    // the last one whose work is in it
	State      string // its tree; "" if the log names none
	Checkpoint string // "" if the log names none
}

// Left is the last capture, even if a step has written to the tree since; zero before the first.
func (t *Tree) Left() Capture {
	if n := len(t.Captures); n > 0 {
		return t.Captures[n-1]
	}
	return Capture{}
}

// look follows an event, given the forks that are open with it, and how many iterations are whole.
func (t *Tree) look(at loop.Stamp, e loop.Event, forks Forks, whole int) {
	own := forks.Of(at.Step) == ""
	t.work(own, e)
	state, checkpoint := t.keep(own, e)
	if checkpoint != "" && len(forks) == 0 {
		t.Settled, t.Lacks = checkpoint, false
	}
	if c, ok := forks.Captured(at, e); ok {
		t.captured(c, max(loop.IterationOf(e), whole))
	} else if state != "" && !own {
		t.Forked = append(t.Forked, state)
	}
}

// work follows those who write to the tree.
func (t *Tree) work(own bool, e loop.Event) {
	switch e := e.(type) { //nolint:gochecksumtype // the others write nothing
	case loop.PhaseEntered:
		t.writes(own && e.State == loop.ActorExecuting)
	case loop.TurnStarted:
		t.writes(own && e.Access == loop.Write)
	case loop.ActorFinished:
		t.worked(own, e.Attempt.Turn)
	case loop.TurnFinished:
		if e.Access == loop.Write {
			t.worked(own, e.Reply.Turn)
		}
	case loop.Finished:
		t.Lacks = t.Lacks && e.Outcome.Reason != loop.StopActorFailed // that turn is repeated
	}
}

// keep follows what is kept of it.
func (t *Tree) keep(own bool, e loop.Event) (state, checkpoint string) {
	switch e := e.(type) { //nolint:gochecksumtype // the others keep nothing
	case loop.Started:
		return "", e.Session.Checkpoint
	case loop.IterationStarted:
		t.Unjudged = ""
	case loop.DiffCaptured:
		t.Unjudged = e.Change.Checkpoint
		return e.Change.State, e.Change.Checkpoint
	case loop.IterationFinished:
		t.Unjudged = ""
		return "", e.Round.Change.Checkpoint
	case loop.Noted:
		return e.Change.State, t.noted(own, e)
	}
	return "", ""
}

// writes forgets the state when a step may write to the tree.
func (t *Tree) writes(may bool) {
	if may {
		t.State, t.Checkpoint = "", ""
	}
}

// worked follows a turn that is over. One that was interrupted, or in which the agent could not
// work, is repeated.
func (t *Tree) worked(own bool, turn loop.Turn) {
	t.Lacks = t.Lacks || turn.Ending != loop.EndInterrupted && !turn.Blocked()
	if own {
		t.Change = nil
	}
}

// noted follows the result of a step, and returns the checkpoint that holds it.
func (t *Tree) noted(own bool, e loop.Noted) (checkpoint string) {
	switch e.Name {
	case loop.NoteForkApplied, loop.NoteApplied:
		t.Lacks = true
		t.writes(own)
		return e.Change.Checkpoint
	case loop.NoteCheckpoint:
		return e.Change.Checkpoint
	case loop.NoteRestored:
		t.writes(own)
		return e.Text
	}
	return ""
}

func (t *Tree) captured(c loop.Change, iteration int) {
	t.State, t.Checkpoint, t.Forked, t.Change = c.State, c.Checkpoint, nil, new(c.Shape())
	if t.Left().Iteration == iteration && len(t.Captures) > 0 {
		t.Captures = t.Captures[:len(t.Captures)-1]
	}
	t.Captures = append(slices.Clip(t.Captures), Capture{iteration, c.State, c.Checkpoint})
}
