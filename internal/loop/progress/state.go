// Package progress folds the events of a run into its state: what is running since when, and the
// results so far. Whatever shows, replays or sums up a run uses it, so that live views, replays
// and lists agree.
//
// A state holds figures and names, but no text that an agent wrote.
package progress

import (
	"time"

	"codeloops/internal/loop"
)

// A State is a [loop.Sink] that tracks where a run stands. The zero value is the state before the
// first event; for a resumed session it may hold the [Tally] of what came before. It is not safe
// for concurrent use.
//
// Displays read the state before an event and pass the event on to it afterwards.
type State struct {
	Tally
	Stage
	Session loop.Session
	Began   time.Time  // start of the run, which may have resumed the session
	At      loop.Stamp // of the last event
	// Open is the current iteration, or the one that broke off; its number is 0 if there is none.
	Open   Iteration
	Closed []Iteration
	// Kept maps checkpoints to the steps whose state they hold.
	Kept map[string]loop.Step
	// Change is the size of the change in the user's own work tree since the session began; nil
	// if nobody has looked since an agent worked there.
	Change *loop.Shape
	Found  []loop.Finding // as the last review left them
	// Rejudge: the next iteration skips the actor's turn and judges the existing work again.
	Rejudge bool
	Ended   bool
}

// An Iteration is the summary of an iteration.
type Iteration struct {
	Number int
	Phase  loop.State  // the last phase entered; [loop.Start] before the first
	Since  time.Time   // of the phase
	Waits  []loop.Wait // finished waits, without the agents' messages

	// The result; zero until it is whole.
	Decision  loop.Decision
	Change    loop.Shape // since the session began
	Escalated bool       // handed to a person, whatever the decision
}

// Handle takes the next event. It never fails.
func (s *State) Handle(at loop.Stamp, e loop.Event) error {
	_ = s.Tally.Handle(at, e) // never fails
	s.At = at
	s.follow(at, e)
	s.look(at, e)
	switch e := e.(type) {
	case loop.Started:
		s.Began = at.Time
		s.takeUp(e.Session)
	case loop.Resumed:
		s.Began = at.Time
		s.takeUp(e.Session)
		s.Rejudge = e.Rejudge
	case loop.IterationStarted:
		s.drop(iterationPath(e.Iteration)) // it may have been begun before
		s.open(at, e.Iteration)
	case loop.PhaseEntered:
		s.enter(at, e)
	case loop.ActorFinished:
		s.Rejudge = false
	case loop.IterationFinished:
		s.close(e.Round)
		if !e.Round.Unjudged {
			s.Found = e.Round.Findings
		}
	case loop.Noted:
		s.Rejudge = s.Rejudge || e.Name == loop.NoteRejudge
		s.keep(at.Step, e)
	case loop.Finished:
		s.breakOff()
		s.Ended = true
	case loop.WaitFinished:
		e.Wait.Reason = ""
		s.Open.Waits = append(s.Open.Waits, e.Wait)
	case loop.TurnStarted, loop.Activity, loop.WaitStarted, loop.DiffCaptured, loop.ReviewRejected, loop.ChecksFinished, loop.CriticFinished, loop.TurnFinished,
		loop.Inspected, loop.BaselineChecked, loop.Warned, loop.Steered:
	}
	return nil
}

// look updates the change of the user's work tree, which becomes unknown when an agent has worked
// there.
func (s *State) look(at loop.Stamp, e loop.Event) {
	_, worked := e.(loop.ActorFinished)
	if turn, over := e.(loop.TurnFinished); over {
		worked = turn.Access == loop.Write
	}
	if worked && s.forks.Of(at.Step) == "" {
		s.Change = nil
	}
	if c, ok := s.forks.Captured(at, e); ok {
		s.Change = new(c.Shape())
	}
}

// keep records whose state a checkpoint holds; for the state of a candidate, that is the
// candidate.
func (s *State) keep(step loop.Step, e loop.Noted) {
	if e.Name != loop.NoteCheckpoint {
		return
	}
	if whole := step.Parent(); whole != "" {
		step = whole
	}
	if s.Kept == nil {
		s.Kept = map[string]loop.Step{}
	}
	s.Kept[e.Change.Checkpoint] = step
}

// takeUp starts or resumes the session.
func (s *State) takeUp(of loop.Session) {
	if of.Prompt == "" { // a log has it only once
		of.Prompt = s.Session.Prompt
	}
	s.breakOff()
	s.Session, s.Ended = of, false
	s.cast(of)
}

// breakOff drops what is running without a result.
func (s *State) breakOff() {
	s.Open = Iteration{}
	s.clear()
}

// open starts an iteration. A resumed session may do so in the middle of one.
func (s *State) open(at loop.Stamp, iteration int) {
	if s.Open.Number != iteration {
		s.Open = Iteration{Number: iteration, Since: at.Time}
	}
}

func (s *State) enter(at loop.Stamp, e loop.PhaseEntered) {
	s.open(at, e.Iteration)
	s.Open.Phase, s.Open.Since = e.State, at.Time
	role := map[loop.State]loop.Role{loop.ActorExecuting: loop.RoleActor, loop.CriticEvaluating: loop.RoleCritic}[e.State]
	if role == loop.RoleActor && s.Rejudge {
		role = "" // there is no turn
	}
	path := pathOf(at, e.Iteration, e.State)
	s.drop(path)
	s.begin(at, path, role)
}

func (s *State) close(r loop.Round) {
	done := s.Open
	done.Number, done.Decision, done.Change = r.Iteration, r.Verdict.Decision, r.Change.Shape()
	done.Escalated = r.Verdict.Escalation != ""
	s.drop(iterationPath(r.Iteration))
	s.Closed = append(s.Closed, done)
	s.breakOff()
	s.Rejudge = r.JudgedAgain()
}

// Last is the number of the last whole iteration, 0 before the first.
func (s *State) Last() int {
	if n := len(s.Closed); n > 0 {
		return s.Closed[n-1].Number
	}
	return 0
}
