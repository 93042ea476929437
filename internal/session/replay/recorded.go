package replay

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"codeloops/internal/critic/verdict"
	"codeloops/internal/loop"
	"codeloops/internal/session"
)

// A run is one run of a session, as the log tells it: the first one, or one that resumed the
// session.
type run struct {
	setting
	before *loop.Journal // of the session before the run; nil: the first run
	rounds []course      // whole iterations, in order
	open   course        // what was read of the next one
	next   int           // its number
	// broken says why no iterations follow the last one, "" if the log has no more.
	broken string
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
	retries int             // most times that a critic was asked again in one iteration
	row     int             // current number of errors in a row
	longest int             // longest such row
	failure loop.StopReason // why the last iteration counted as an error

	asked int // how often the critic was asked again in this iteration
	// members holds the same for members of a panel, by the step of their first reply.
	members map[loop.Step]member

	own []session.Entry // results of the strategy's steps
}

// A course is one iteration. It holds the texts of agents only as far as a loop may still need
// them.
type course struct {
	phases  []loop.State
	replies []loop.Review // of the critic, in order, as they are read today
	round   loop.Round
}

// recorded reads the runs of a log.
func recorded(entries Entries) (runs []*run, err error) {
	journal := &loop.Journal{}
	for entry, err := range session.Sound(entries, nil) { // a missing iteration shows in the numbers
		if err != nil {
			return nil, err
		}
		if e, ok := entry.Event.(loop.Started); ok && len(runs) == 0 {
			runs = append(runs, &run{setting: setting{session: e.Session, ours: entry.At.Seq > 0}, next: 1})
		}
		if e, ok := entry.Event.(loop.Resumed); ok && len(runs) > 0 {
			e.Session.Prompt = runs[0].session.Prompt
			next := runs[len(runs)-1].next
			runs = append(runs, &run{setting: setting{session: e.Session, ours: true}, before: journal.Clone(), next: next})
		}
		journal.Add(entry.At, entry.Event)
		if len(runs) > 0 {
			runs[len(runs)-1].take(entry)
		}
	}
	if len(runs) == 0 {
		return nil, errors.New("the log has no session_start that can be read")
	}
	return runs, nil
}

// take adds the next event of the run.
func (r *run) take(entry session.Entry) {
	switch e := entry.Event.(type) { //nolint:gochecksumtype // the others are played anew
	case loop.TurnFinished:
		r.heard(entry.At.Step, e)
		r.own = append(r.own, entry)
	case loop.Noted:
		r.own = append(r.own, entry)
	case loop.IterationStarted:
		r.open, r.asked = course{}, 0
	case loop.PhaseEntered:
		r.open.phases = append(r.open.phases, e.State)
	case loop.ReviewRejected:
		today := r.reread(e.Review)
		if len(e.Review.Unmentioned) == 0 && !r.doubted(today) { // such a question is no retry
			r.asked++
		}
		r.retries = max(r.retries, r.asked)
		r.open.replies = append(r.open.replies, today)
	case loop.IterationFinished:
		r.finished(e.Round)
	case loop.Finished:
		r.end = &e.Outcome
	}
}

// doubted reports whether a critic was asked only whether it meant the tree without its own changes.
func (s *setting) doubted(r loop.Review) bool {
	return r.Problem == "" && len(r.Written.Changed)+len(r.Written.Settings) > 0 && s.session.Policy.Profile != loop.ProfileStrict
}

// finished completes the open iteration.
func (r *run) finished(round loop.Round) {
	r.whole++
	r.asked = 0
	r.checks = r.checks || len(round.Checks) > 0
	r.failure = round.Failure
	if r.row++; !r.failed(round) {
		r.row = 0
	}
	r.longest = max(r.longest, r.row)
	c := r.open
	c.replies, c.round = append(c.replies, r.reread(round.Review)), round.Outline()
	if said := round.Attempt.Stdout.Text; round.Unjudged && round.Rule == "" {
		if _, decides := verdict.ReadActor(said); decides { // without a decision, it makes no difference
			c.round.Attempt.Stdout.Text = said
		}
	}
	if round.Iteration != r.next {
		r.broken = cmp.Or(r.broken, fmt.Sprintf("iteration %d cannot be read in the log", r.next))
	}
	if r.broken == "" {
		r.rounds = append(r.rounds, c)
	}
	r.open, r.next = course{}, r.next+1
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
	if s.end != nil && (tooManyErrors(s.end.Reason) || s.row > 0 && s.end.Reason == s.failure) {
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
