package replay

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"codeloops/internal/loop"
	"codeloops/internal/session"
)

// A course is one whole iteration as a log tells it.
type course struct {
	phases   []loop.State
	rejected []loop.Review // replies that could not be used, in order
	round    loop.Round
}

// script reads a log, one run of its session after the other: the first, and each that
// carried it on.
type script struct {
	next func() (session.Entry, error, bool)
	stop func()

	journal *loop.Journal // of what has been read
	open    course        // what there is of the next iteration
	count   int           // iterations read
	resumed *session.Entry
	// broken says why what follows cannot be read, "" while it can.
	broken string
}

func newScript(entries Entries) *script {
	s := &script{journal: &loop.Journal{}}
	s.next, s.stop = iter.Pull2(entries)
	return s
}

// iteration returns the next whole iteration of a run; ok is false when there is none,
// or none that follows the last one.
func (s *script) iteration() (c course, ok bool, err error) {
	for s.broken == "" && s.resumed == nil {
		entry, err, more := s.next()
		if !more {
			return course{}, false, nil
		}
		if _, bad := errors.AsType[*session.LineError](err); bad {
			continue // what is missing shows in the numbers
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

// run turns to the next run of the session, and returns what the session had come to
// before it; nil when there is none.
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
	s.open, s.resumed = course{}, nil // what was begun after the actor's turn is done again
	return before, nil
}

// take adds an event to what is open and reports whether that is now whole.
func (s *script) take(e loop.Event) bool {
	switch e := e.(type) {
	case loop.IterationStarted:
		s.open = course{}
	case loop.PhaseEntered:
		s.open.phases = append(s.open.phases, e.State)
	case loop.ReviewRejected:
		s.open.rejected = append(s.open.rejected, e.Review)
	case loop.IterationFinished:
		// The loop decides without what the actor wrote, unless nobody else has judged it; the
		// reply is read anew.
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

// A setting is what a run depended on, as far as its log tells. What the log does not
// hold, how many errors in a row were allowed and how often a critic was asked again,
// follows from the course that the run took.
type setting struct {
	session loop.Session
	ours    bool          // with the events between the iterations
	end     *loop.Outcome // nil: none
	whole   int           // iterations
	checks  bool
	retries int // how often a critic was asked again within one iteration
	row     int // errors in a row, up to now
	longest int // such row

	asked int // again, in the iteration
	// members is the same of those of a panel, by the step of the first time.
	members map[loop.Step]member

	own []session.Entry // what steps of the strategy's own came to
}

// settings reads a whole log for those of its runs.
func settings(entries Entries) (runs []setting, err error) {
	for entry, err := range entries {
		if _, bad := errors.AsType[*session.LineError](err); bad {
			continue
		}
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
		return nil, errNoStart
	}
	return runs, nil
}

// take takes the next event of the run.
func (s *setting) take(step loop.Step, e loop.Event) {
	switch e := e.(type) {
	case loop.TurnFinished:
		s.heard(step, e)
	case loop.IterationStarted:
		s.asked = 0
	case loop.ReviewRejected:
		if len(e.Review.Unmentioned) == 0 { // that one is asked beside the others
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

// A member is one of a panel in one hearing.
type member struct {
	asked    int  // again
	unusable bool // its last reply
}

// heard takes a turn of a member of a panel, which is asked for once more below its step.
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

// errors is how many in a row the run bore.
func (s *setting) errors() int {
	if s.end != nil && tooManyErrors(s.end.Reason) {
		return s.row
	}
	return max(usualErrors, s.longest+1)
}

// errNoStart is a log that does not say how its session began.
var errNoStart = errors.New("the log has no session_start that can be read")

// usualErrors in a row are allowed unless the configuration says otherwise.
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
