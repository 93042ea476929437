package progress

import (
	"time"

	"codeloops/internal/loop"
)

// A State is the [loop.Sink] that folds a run into where it stands. The zero value is
// the state before the first event; of a session that is carried on, it may hold the
// [Tally] of what came before. It is not safe for concurrent use.
//
// Whoever shows an event asks for the state that the event meets, and hands the event
// to it afterwards.
type State struct {
	Tally
	Stage
	Session loop.Session
	Began   time.Time  // the session, or what was seen of it
	At      loop.Stamp // of the last event
	// Open is the iteration under way, or broken off; its number is 0 where there is none.
	Open Iteration
	// Closed are the whole iterations.
	Closed []Iteration
	// Kept are the steps of the strategy whose states were kept, by checkpoint.
	Kept map[string]loop.Step
	// Change is the size of what has changed in the user's own work tree since the
	// session began; nil while nobody has looked since an agent was at work there.
	Change *loop.Shape
	// Rejudge: the next iteration plays no turn of the actor, but judges again what
	// there is.
	Rejudge bool
	Ended   bool
}

// An Iteration is one in short.
type Iteration struct {
	Number int
	Phase  loop.State  // the last one entered; [loop.Start] before the first
	Since  time.Time   // of the phase
	Waits  []loop.Wait // that are over, without the agents' sentences

	// What became of it; zero until it is whole.
	Decision  loop.Decision
	Change    loop.Shape // everything since the session began
	Escalated bool       // to a person, whatever the decision is
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
		if s.Began.IsZero() { // who runs it has not seen the beginning
			s.Began = at.Time
		}
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

// look takes what an event tells of the user's work tree: what has changed in it, or that an agent
// was at work there.
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

// keep takes down whose state a checkpoint holds: of the state of a candidate, the candidate's.
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

// takeUp begins the session, for the first time or again.
func (s *State) takeUp(of loop.Session) {
	if of.Prompt == "" { // a log has it once
		of.Prompt = s.Session.Prompt
	}
	s.breakOff()
	s.Session, s.Ended = of, false
	s.cast(of)
}

// breakOff ends what is under way without a result.
func (s *State) breakOff() {
	s.Open = Iteration{}
	s.clear()
}

// open takes up an iteration. A session that is carried on may do so in the middle of
// one.
func (s *State) open(at loop.Stamp, iteration int) {
	if s.Open.Number != iteration {
		s.Open = Iteration{Number: iteration, Since: at.Time}
	}
}

func (s *State) enter(at loop.Stamp, e loop.PhaseEntered) {
	s.open(at, e.Iteration)
	s.Open.Phase, s.Open.Since = e.State, at.Time
	role := roleIn(e.State)
	if role == loop.RoleActor && s.Rejudge {
		role = "" // nobody plays it
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
