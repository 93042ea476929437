package loop

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// Steps are the moves that a strategy may make. Each one is written down when it is over,
// before the next one begins. A step that stands in the journal of a session that is
// carried on is not made again: it returns what it came to. Steps belong to the
// goroutine of the strategy.
type Steps struct{ *section }

// A section of a strategy has a work tree, a journal and a memory of its own; the whole of it
// is one, too.
type section struct {
	*course
	at      Workplace
	journal *Journal
	live    bool // what stands in the journal is over: what comes is played
	whole   Step // of the part; "" is the session
	parent  *section
	branch  *branch // of a part; nil for the session
	errand
	memory
}

// An errand is what is done now, of all that the session is about.
type errand struct {
	within Step     // what steps are named below
	prompt string   // the session's
	part   string   // of what that asks for; "": all of it
	beside []string // what whoever works on it is told beside the task
	actor  Role     // whose agent plays the actor; "": the actor's own
	bound  bound
}

// A bound is the iteration with which something is over in any case, and by which parameter of the
// strategy; the zero value is none.
type bound struct {
	until int
	by    string
}

// A course is what all steps of a run have in common.
type course struct {
	loop *Loop
	*record
	session Session
	began   time.Time
	fresh   bool // the session begins with this run
	machine Machine

	mu       sync.Mutex // guards what follows
	played   bool       // something was: the journal is over
	own      bool       // the strategy has made a step of its own since the last iteration
	progress Progress   // without what the ledger holds
	ledger   ledger
}

// memory is what later iterations go by.
type memory struct {
	history  []Round  // without their texts
	previous *Round   // the last one, whole
	again    *Attempt // of that one, to be judged again; nil: it has its verdict
	baseline []CheckResult

	conversation Conversation // of the actor's last turn
	complaint    string       // of that turn
	position     Position     // at the last look
	meanwhile    []string     // paths that had changed then since the capture
}

// Baseline runs the checks on the work tree as the session finds it, where that is set.
func (s *Steps) Baseline(ctx context.Context) (err error) {
	if e, ok := s.journal.take(baselineStep); ok {
		if was, ok := e.(BaselineChecked); ok {
			s.baseline = was.Checks
		}
		return nil
	}
	if s.parent != nil || !s.fresh || !s.loop.Checks.Before || s.at.Checker == nil {
		return nil
	}
	s.fresh = false // one strategy after the other may ask for it
	if s.baseline, err = s.check(ctx, baselineStep); err != nil {
		return fmt.Errorf("run the checks before the session: %w", err)
	}
	return s.emit(baselineStep, BaselineChecked{Checks: s.baseline})
}

// Iterate makes the next iteration: the moves that play makes in it. What is returned is
// all that it came to.
func (s *Steps) Iterate(ctx context.Context, play func(context.Context, *Iteration) error) (Round, error) {
	n := s.progress.Iterations + 1
	if e, ok := s.journal.take(iterationStep(n)); ok {
		if whole, ok := e.(IterationFinished); ok {
			s.remember(whole.Round)
			return whole.Round, nil
		}
	}
	if err := s.journal.only(iterationStep(n)); err != nil {
		return Round{}, err
	}
	if err := s.goLive(ctx); err != nil {
		return Round{}, err
	}
	begun := len(s.journal.entries) > 0
	if !begun { // what was begun before the session broke off is finished in any case
		next := RoleActor
		if s.again != nil {
			next = RoleCritic
		}
		if err := s.mayBegin(ctx, next); err != nil {
			return Round{}, err
		}
	}
	if s.own && s.machine.State() == DecidedDone { // and goes on behind it
		s.machine = Machine{}
	}
	s.own = false
	it := &Iteration{run: s.section, began: s.loop.Clock(), c: Case{Iteration: n, Task: s.Task(), History: s.history}}
	if !begun {
		if err := s.emit(it.step(""), IterationStarted{Iteration: n}); err != nil {
			return Round{}, err
		}
	}
	if err := play(ctx, it); err != nil {
		return it.round, err
	}
	it.round.Duration = s.loop.Clock().Sub(it.began)
	if err := s.emit(it.step(""), IterationFinished{Round: it.round}); err != nil {
		return it.round, err
	}
	s.remember(it.round)
	if it.round.JudgedAgain() {
		s.again = s.previous.Attempt.again()
	}
	return it.round, nil
}

// Over reports whether the iterations end with one of them, and how. One that stands in
// the journal ended nothing where another one follows there, nor does a DONE with nothing
// behind it: it is judged again.
func (s *Steps) Over(round Round) (Outcome, bool) {
	out, ends := round.ends()
	switch {
	case ends && !s.live:
		next, more := s.journal.next()
		return out, more && next.Iteration() == 0 || !more && !s.journal.Ended() && out.Reason != StopDone
	case !ends && s.bound.until > 0 && s.progress.Iterations >= s.bound.until:
		return Outcome{Reason: StopMaxIterations, Cause: s.bound.by, Summary: round.Verdict.Guidance()}, true
	}
	return out, ends
}

// Bound has so many more iterations be the last ones, as a parameter of the strategy says, until
// what is returned ends that; 0 is no bound. An outer bound holds, too.
func (s *Steps) Bound(iterations int, by string) (leave func()) {
	was := s.bound
	if most := s.progress.Iterations + iterations; iterations > 0 && (was.until == 0 || most < was.until) {
		s.bound = bound{most, by}
	}
	return func() { s.bound = was }
}

// Anew has the actor begin a new conversation, with no earlier rounds.
func (m *memory) Anew() {
	m.history, m.previous, m.again, m.conversation = nil, nil, nil, Conversation{}
}

// Case is the work as the last iteration left it, for a turn that judges it.
func (s *Steps) Case() *Case {
	c := &Case{Iteration: s.progress.Iterations, Task: s.Task()}
	if s.previous != nil {
		c.Attempt, c.Change, c.Inspection, c.Checks = s.previous.Attempt, s.previous.Change, s.previous.Inspection, s.previous.Checks
	}
	return c
}

// Task is what is to be done: what the user asks for, or the part of it that is under way.
func (e *errand) Task() string { return cmp.Or(e.part, e.prompt) }

// Told is the task with what whoever works on it is told beside it.
func (e *errand) Told() string { return strings.Join(append([]string{e.Task()}, e.beside...), "\n\n") }

// Instruct adds to what whoever works is told beside the task, until what is returned ends that;
// "" adds nothing. Those who judge the work are not told.
func (e *errand) Instruct(text string) (leave func()) {
	was := e.beside
	if text != "" {
		e.beside = append(slices.Clip(was), text)
	}
	return func() { e.beside = was }
}

// Aim has what follows be about a part of what the user asks for: its iterations are judged by
// that alone. "" is all of it again.
func (e *errand) Aim(task string) { e.part = task }

// Cast has the agent of a role play the actor, and the turns that the actor's agent would play,
// until what is returned ends that; "" is the actor's own. Its turns are the actor's in everything
// else.
func (e *errand) Cast(role Role) (leave func()) {
	was := e.actor
	e.actor = role
	return func() { e.actor = was }
}

// Step names a step of the strategy that is under way, as "critique.round_1".
func (e *errand) Step(format string, args ...any) Step {
	name := fmt.Sprintf(format, args...)
	if e.within == "" {
		return Step(name)
	}
	return e.within.Sub(name)
}

// Within has the steps be named below one of them, so that a strategy can be driven again and
// again by another one. What is returned ends that.
func (e *errand) Within(step Step) (leave func()) {
	was := e.within
	e.within = step
	return func() { e.within = was }
}

// goLive ends what is taken from the journal: the next step is played.
func (s *section) goLive(ctx context.Context) error {
	if s.live {
		return nil
	}
	s.live = true
	for p := s; p.parent != nil; p = p.parent {
		if p.journal == p.parent.journal {
			continue
		}
		if err := p.parent.journal.only(p.whole); err != nil {
			return err // what comes behind the parts stands there already
		}
	}
	s.takeOver()
	_, err := s.open(ctx)
	return err
}

// takeOver has the run go on from what the journal comes to. That is done once: what the
// other parts of the strategy go by has been played.
func (s *section) takeOver() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.played {
		return
	}
	s.played = true
	s.ledger = s.journal.ledger.clone()
	s.progress.ConsecutiveErrors, s.progress.LastFailure, s.progress.LastProblem = 0, StopNone, "" // whoever resumes wants another try
	pending := s.journal.Pending()
	if s.parent == nil || pending != nil || s.previous != nil { // else it was another part's
		s.conversation = s.journal.conversation
	}
	switch {
	case pending != nil:
		s.complaint = pending.Complaint()
	case s.previous != nil:
		s.complaint = s.previous.Attempt.Complaint()
		if s.journal.untouched && s.previous.Undecided() {
			s.again = s.previous.Attempt.again()
		}
	}
}

// aside notes that the strategy has made a step of its own.
func (s *course) aside() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.own = true
}

// remember keeps the last round whole and the others without their texts, so
// that a long session does not grow with what its agents print.
func (s *section) remember(round Round) {
	s.progress.Iterations++
	s.progress.LastFailure, s.progress.LastProblem = round.Failure, trouble(round)
	if round.Failure == StopNone {
		s.progress.ConsecutiveErrors = 0
	} else {
		s.progress.ConsecutiveErrors++
	}
	s.previous, s.again = &round, nil
	// A new array each time: the critic may still hold the old one.
	s.history = append(slices.Clip(s.history), round.Outline())
}

// ends says how the run ends with a round, if it does.
func (r Round) ends() (Outcome, bool) {
	v := r.Verdict
	switch {
	case r.Stop != StopNone:
		return Outcome{Reason: r.Stop, Summary: r.Why}, true
	case v.Escalation != "":
		return Outcome{Reason: StopPolicyEscalation, Summary: v.Escalation}, true
	case v.Decision == Done:
		return Outcome{Reason: StopDone, Summary: v.Summary, Confidence: v.Confidence}, true
	}
	return Outcome{}, false
}
