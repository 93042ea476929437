// Package progress folds the events of a run into its state: what is running since when, and the
// results so far. Whatever shows, replays or sums up a run uses it, so that live views, replays
// and lists agree.
//
// A state holds figures and names, but of what agents wrote only the summary at the end.
package progress

import (
	"maps"
	"time"

	"codeloops/internal/loop"
)

// A State is a [loop.Sink] that tracks where a run stands. The zero value is the state before the
// first event; a resumed session begins with [State.Past]. It is not safe for concurrent use.
//
// Displays read the state before an event and pass the event on to it afterwards.
type State struct {
	Tally
	Stage
	Tree
	Session loop.Session // of the last run
	// Origin is the session as it began, with the rules, the deciders and the flags of the last run.
	Origin loop.Session
	Runs   int        // how often it was begun or resumed
	Began  time.Time  // start of the run, which may have resumed the session
	At     loop.Stamp // of the last event
	// Open is the current iteration, or the one that broke off; its number is 0 if there is none.
	Open   Iteration
	Closed []Iteration
	// Kept maps checkpoints to the steps whose state they hold.
	Kept  map[string]loop.Step
	Found []loop.Finding // as the last review left them
	// Rejudge: the next iteration skips the actor's turn and judges the existing work again.
	Rejudge bool
	Outcome *loop.Outcome // of the last run; nil until it has ended
}

// Past returns the state in which a run begins that resumes the session.
func (s *State) Past() State {
	past := State{Tally: s.Tally, Tree: s.Tree, Origin: s.Origin, Runs: s.Runs, Kept: maps.Clone(s.Kept), Found: s.Found}
	past.Change = nil // nobody has looked yet
	return past
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
	s.look(at, e, s.forks, s.Iterations)
	switch e := e.(type) {
	case loop.Started:
		s.Origin = e.Session
		s.takeUp(at, e.Session)
	case loop.Resumed:
		s.Origin.Flags = e.Session.Flags
		if len(e.Session.Rules) > 0 {
			s.Origin.Rules, s.Origin.Deciders = e.Session.Rules, e.Session.Deciders
		}
		s.takeUp(at, e.Session)
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
		s.stepKept(at.Step, e)
	case loop.Finished:
		s.breakOff()
		s.Outcome = &e.Outcome
	case loop.WaitFinished:
		e.Wait.Reason = ""
		s.Open.Waits = append(s.Open.Waits, e.Wait)
	case loop.TurnStarted, loop.Activity, loop.WaitStarted, loop.DiffCaptured, loop.ReviewRejected, loop.ChecksFinished, loop.CriticFinished, loop.TurnFinished,
		loop.Inspected, loop.BaselineChecked, loop.Warned, loop.Steered:
	}
	return nil
}

// stepKept records whose state a checkpoint holds; for the state of a candidate, that is the
// candidate.
func (s *State) stepKept(step loop.Step, e loop.Noted) {
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
func (s *State) takeUp(at loop.Stamp, of loop.Session) {
	if of.Prompt == "" { // a log has it only once
		of.Prompt = s.Session.Prompt
	}
	s.breakOff()
	s.Session, s.Outcome, s.Began = of, nil, at.Time
	s.Runs++
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
