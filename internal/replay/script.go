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

// script reads a log, one whole iteration after the other.
type script struct {
	next func() (session.Entry, error, bool)
	stop func()

	open  course // what there is of the next one
	count int    // iterations read
	// broken says why what follows cannot be read, "" while it can.
	broken string
}

func newScript(entries Entries) *script {
	s := &script{}
	s.next, s.stop = iter.Pull2(entries)
	return s
}

// iteration returns the next whole iteration; ok is false when there is none,
// or none that follows the last one.
func (s *script) iteration() (c course, ok bool, err error) {
	for s.broken == "" {
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

// take adds an event to what is open and reports whether that is now whole.
func (s *script) take(e loop.Event) bool {
	switch e := e.(type) {
	case loop.IterationStarted:
		s.open = course{}
	case loop.PhaseEntered:
		s.open.phases = append(s.open.phases, e.State)
	case loop.ReviewRejected:
		s.open.rejected = append(s.open.rejected, e.Review)
	case loop.Resumed:
		// What was begun after the actor's turn is done again.
		s.open.rejected = nil
		s.open.phases = slices.Clone(s.open.phases[:min(1, len(s.open.phases))])
	case loop.IterationFinished:
		// The loop decides without what the actor wrote; the reply is read anew.
		s.open.round = e.Round.Outline()
		s.open.round.Review.Reply = e.Round.Review.Reply
		return true
	case loop.Started, loop.Activity, loop.WaitStarted, loop.WaitFinished, loop.ActorFinished, loop.DiffCaptured, loop.Inspected, loop.BaselineChecked, loop.ChecksFinished,
		loop.CriticFinished, loop.Warned, loop.Finished:
	}
	return false
}

// A setting is what a run depended on, as far as its log tells.
type setting struct {
	session loop.Session
	ours    bool          // with the events between the iterations
	end     *loop.Outcome // nil: none
	whole   int           // iterations
	checks  bool
	mixed   bool // some iterations were checked, others not
	retries int  // how often a critic was asked again within one iteration
	errors  int  // in a row that a run bore
	resumed map[int]bool
	again   map[int]bool // the iterations whose work was judged again in the next one
	rules   []rules      // in the order in which they came to hold
}

// rules are what a session kept after so many iterations.
type rules struct {
	after  int
	policy loop.Policy
}

// policyAt is what counted in an iteration.
func (s setting) policyAt(iteration int) (p loop.Policy) {
	for _, r := range s.rules {
		if r.after < iteration {
			p = r.policy
		}
	}
	return p
}

// settingOf reads a whole log for it. What the log does not hold, how many
// errors in a row were allowed and how often a critic was asked again, follows
// from the course that the session took.
func settingOf(entries Entries) (setting, error) {
	o := observer{setting: setting{resumed: map[int]bool{}, again: map[int]bool{}}}
	for entry, err := range entries {
		if _, bad := errors.AsType[*session.LineError](err); bad {
			continue
		}
		if err != nil {
			return o.setting, err
		}
		o.take(entry)
	}
	if !o.begun {
		return o.setting, errNoStart
	}
	s := o.setting
	s.checks, s.mixed = o.checked > 0, o.checked > 0 && o.checked < s.whole
	s.errors = max(usualErrors, o.longest+1)
	if s.end != nil && tooManyErrors(s.end.Reason) {
		s.errors = o.row
	}
	return s, nil
}

// observer is a setting as it is read.
type observer struct {
	setting
	begun   bool
	asked   int // again, in the iteration
	checked int // iterations
	row     int // errors in a row, up to now
	longest int // such row
}

func (o *observer) take(entry session.Entry) {
	switch e := entry.Event.(type) {
	case loop.Started:
		o.session, o.ours, o.begun = e.Session, entry.At.Seq > 0, true
		o.rules = append(o.rules, rules{0, e.Session.Policy})
	case loop.Resumed:
		o.session.MaxIterations = e.Session.MaxIterations
		o.resumed[e.Iterations] = true
		o.again[e.Iterations] = e.Rejudge
		o.rules = append(o.rules, rules{e.Iterations, e.Session.Policy})
		o.end, o.row, o.asked = nil, 0, 0
	case loop.IterationStarted:
		o.asked = 0
	case loop.ReviewRejected:
		if len(e.Review.Unmentioned) == 0 { // that one is asked beside the others
			o.asked++
		}
		o.retries = max(o.retries, o.asked)
	case loop.IterationFinished:
		o.iteration(e.Round)
	case loop.Finished:
		o.end = &e.Outcome
	case loop.PhaseEntered, loop.Activity, loop.WaitStarted, loop.WaitFinished, loop.ActorFinished, loop.DiffCaptured,
		loop.Inspected, loop.BaselineChecked, loop.ChecksFinished, loop.CriticFinished, loop.Warned:
	}
}

func (o *observer) iteration(r loop.Round) {
	o.whole++
	o.asked = 0
	if len(r.Checks) > 0 {
		o.checked++
	}
	if o.row++; !o.failed(r) {
		o.row = 0
	}
	o.longest = max(o.longest, o.row)
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
