package replay

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"codeloops/internal/loop"
	"codeloops/internal/session"
)

// A course is one whole iteration, as a log tells it.
type course struct {
	phases   []loop.State
	rejected []loop.Review // replies that could not be used, in order
	round    loop.Round
}

// script reads a log run by run: the first one, and each that resumed the session.
type script struct {
	next func() (session.Entry, error, bool)
	stop func()

	journal *loop.Journal // of what has been read
	open    course        // the part of the next iteration that was read
	count   int           // iterations read
	resumed *session.Entry
	// broken says why the rest cannot be read, "" if it can.
	broken string
}

func newScript(entries Entries) *script {
	s := &script{journal: &loop.Journal{}}
	s.next, s.stop = iter.Pull2(session.Sound(entries, nil)) // a missing iteration shows in the numbers
	return s
}

// iteration returns the next whole iteration of a run; ok is false if there is none, or if one
// is missing before it.
func (s *script) iteration() (c course, ok bool, err error) {
	for s.broken == "" && s.resumed == nil {
		entry, err, more := s.next()
		if !more {
			return course{}, false, nil
		}
		if err != nil {
			return course{}, false, err
		}
		if _, resumed := entry.Event.(loop.Resumed); resumed {
			s.resumed = &entry
			break
		}
		s.journal.Add(entry.At, entry.Event)
		if s.take(entry.Event) {
			c, s.open = s.open, course{}
			s.count++
			if c.round.Iteration == s.count {
				return c, true, nil
			}
			s.broken = fmt.Sprintf("iteration %d cannot be read in the log", s.count)
		}
	}
	return course{}, false, nil
}

// run advances to the next run of the session, and returns the journal of the session before
// it; nil if there is no further run.
func (s *script) run() (*loop.Journal, error) {
	for {
		if _, more, err := s.iteration(); err != nil || !more {
			if err != nil || s.resumed == nil {
				return nil, err
			}
			break
		}
	}
	before := s.journal.Clone()
	s.journal.Add(s.resumed.At, s.resumed.Event)
	s.open, s.resumed = course{}, nil // a run repeats what was begun after the actor's turn
	return before, nil
}

// take adds an event to the open iteration and reports whether that is now whole.
func (s *script) take(e loop.Event) bool {
	switch e := e.(type) {
	case loop.IterationStarted:
		s.open = course{}
	case loop.PhaseEntered:
		s.open.phases = append(s.open.phases, e.State)
	case loop.ReviewRejected:
		s.open.rejected = append(s.open.rejected, e.Review)
	case loop.IterationFinished:
		// The loop needs what the actor wrote only if nobody else judged the iteration. The
		// critic's reply is parsed again.
		s.open.round = e.Round.Outline()
		if e.Round.Unjudged && e.Round.Rule == "" {
			s.open.round.Attempt.Stdout.Text = e.Round.Attempt.Stdout.Text
		}
		s.open.round.Review.Reply = e.Round.Review.Reply
		return true
	case loop.Started, loop.Resumed, loop.Activity, loop.TurnStarted, loop.TurnFinished, loop.Noted, loop.WaitStarted, loop.WaitFinished, loop.ActorFinished, loop.DiffCaptured, loop.Inspected, loop.BaselineChecked, loop.ChecksFinished,
		loop.CriticFinished, loop.Warned, loop.Finished, loop.Steered:
	}
	return false
}

// A setting is what a run depended on, as far as its log tells. The log does not hold how many
// errors in a row were allowed and how often a critic was asked again: that follows from the
// course of the run.
type setting struct {
	session loop.Session
	ours    bool          // the log has the events between the iterations, unlike the original's
	end     *loop.Outcome // nil: none
	whole   int           // number of whole iterations
	checks  bool
	retries int // most times that a critic was asked again in one iteration
	row     int // current number of errors in a row
	longest int // longest such row

	asked int // how often the critic was asked again in this iteration
	// members holds the same for members of a panel, by the step of their first reply.
	members map[loop.Step]member

	own []session.Entry // results of the strategy's steps
}

// settings reads a whole log for the settings of its runs.
func settings(entries Entries) (runs []setting, err error) {
	for entry, err := range session.Sound(entries, nil) {
		if err != nil {
			return nil, err
		}
		if e, ok := entry.Event.(loop.Started); ok {
			runs = append(runs, setting{session: e.Session, ours: entry.At.Seq > 0})
		}
		if len(runs) == 0 {
			continue
		}
		if e, ok := entry.Event.(loop.Resumed); ok {
			e.Session.Prompt = runs[0].session.Prompt
			runs = append(runs, setting{session: e.Session, ours: true})
		}
		run := &runs[len(runs)-1]
		run.take(entry.At.Step, entry.Event)
		_, turn := entry.Event.(loop.TurnFinished)
		_, note := entry.Event.(loop.Noted)
		if turn || note {
			run.own = append(run.own, entry)
		}
	}
	if len(runs) == 0 {
		return nil, errors.New("the log has no session_start that can be read")
	}
	return runs, nil
}

// take processes the next event of the run.
func (s *setting) take(step loop.Step, e loop.Event) {
	switch e := e.(type) {
	case loop.TurnFinished:
		s.heard(step, e)
	case loop.IterationStarted:
		s.asked = 0
	case loop.ReviewRejected:
		if len(e.Review.Unmentioned) == 0 { // asking about open findings does not count as a retry
			s.asked++
		}
		s.retries = max(s.retries, s.asked)
	case loop.IterationFinished:
		s.whole++
		s.asked = 0
		s.checks = s.checks || len(e.Round.Checks) > 0
		if s.row++; !s.failed(e.Round) {
			s.row = 0
		}
		s.longest = max(s.longest, s.row)
	case loop.Finished:
		s.end = &e.Outcome
	case loop.Started, loop.Resumed, loop.PhaseEntered, loop.Activity, loop.TurnStarted, loop.Noted, loop.WaitStarted, loop.WaitFinished, loop.ActorFinished, loop.DiffCaptured,
		loop.Inspected, loop.BaselineChecked, loop.ChecksFinished, loop.CriticFinished, loop.Warned, loop.Steered:
	}
}

// A member is a member of a panel in one hearing.
type member struct {
	asked    int  // how often it was asked again
	unusable bool // its last reply was
}

// heard processes a turn of a member of a panel. A repeated turn is a step below the first.
func (s *setting) heard(step loop.Step, e loop.TurnFinished) {
	if e.Review == nil {
		return
	}
	if s.members == nil {
		s.members = map[loop.Step]member{}
	}
	first := step
	if step.Name() != string(e.Role) {
		first = step.Parent()
	}
	m := s.members[first]
	if step == first {
		m = member{}
	} else if m.unusable {
		m.asked++
		s.retries = max(s.retries, m.asked)
	}
	m.unusable = e.Review.Problem != ""
	s.members[first] = m
}

// errors is how many errors in a row the run allowed.
func (s *setting) errors() int {
	if s.end != nil && tooManyErrors(s.end.Reason) {
		return s.row
	}
	return max(usualErrors, s.longest+1)
}

// usualErrors is the default number of errors allowed in a row.
const usualErrors = 3

// failed reports whether an iteration counted as an error.
func (s *setting) failed(r loop.Round) bool {
	return r.Failure != loop.StopNone || !s.ours && r.Verdict.Decision == loop.Error
}

// tooManyErrors reports whether a run ended because of its errors in a row.
func tooManyErrors(r loop.StopReason) bool {
	return slices.Contains([]loop.StopReason{
		loop.StopConsecutiveErrors, loop.StopNoDecision, loop.StopActorTimeout,
		loop.StopCriticTimeout, loop.StopOutputLimit,
	}, r)
}
