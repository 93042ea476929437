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

// Steps are the steps that a strategy can take. The result of each is recorded before the next
// one begins. When a session is resumed, a step that is already in the journal is not taken
// again: its recorded result is returned. Steps belong to the goroutine of the strategy.
type Steps struct{ *section }

// A section is a part of a strategy with its own work tree, journal and memory. The whole
// strategy is a section as well.
type section struct {
	*course
	at      Workplace
	journal *Journal
	live    bool // the journal is used up: from now on steps are played
	whole   Step // the step of this part; "" is the session
	parent  *section
	branch  *branch // nil for the session
	errand
	memory
}

// An errand is the part of the session's task that is being worked on.
type errand struct {
	within Step     // prefix of step names
	prompt string   // the session's prompt
	part   string   // the part of it to work on; "": all of it
	beside []string // instructions for whoever works, in addition to the task
	actor  Role     // role whose agent plays the actor; "": the actor's own
	bound  bound
}

// A bound is a limit on iterations and the strategy parameter that set it; the zero value is no
// limit.
type bound struct {
	until int
	by    string
}

// A course is what all sections of a run share.
type course struct {
	loop *Loop
	*record
	steering *Steering
	session  Session
	began    time.Time
	machine  Machine

	mu       sync.Mutex // guards what follows
	played   bool       // something was played: the journal is used up
	own      bool       // the strategy has taken a step of its own since the last iteration
	progress Progress   // without the figures of the ledger
	ledger   ledger
	freed    sync.Cond // a running turn has finished
	halted   error     // no turn begins any more
}

// memory is what later iterations need of earlier ones.
type memory struct {
	history  []Round  // without their texts
	previous *Round   // the last one, with its texts
	again    *Attempt // its attempt, to be judged again; nil: it has a verdict
	baseline []CheckResult

	conversation Conversation // of the actor's last turn
	complaint    string       // of that turn
	position     Position     // at the last look at the repository
	meanwhile    []string     // paths that had changed by then since the capture
}

// checkBaseline runs the checks on the work tree as the session finds it, if that is configured. Logs
// of older versions have the results where the strategy asked for them.
func (s *section) checkBaseline(ctx context.Context, fresh bool) (err error) {
	e, _ := s.journal.find(baselineStep)
	if was, ok := e.(BaselineChecked); ok {
		s.baseline = was.Checks
		return nil
	}
	if !fresh || !s.loop.Checks.Before || s.at.Checker == nil {
		return nil
	}
	if s.baseline, err = s.check(ctx, baselineStep); err != nil {
		return fmt.Errorf("run the checks before the session: %w", err)
	}
	return s.emit(baselineStep, BaselineChecked{Checks: s.baseline})
}

// Iterate runs the next iteration: the moves that play makes in it. It returns the result.
func (s *Steps) Iterate(ctx context.Context, play func(context.Context, *Iteration) error) (Round, error) {
	n := s.progress.Iterations + 1
	if whole, ok := take[IterationFinished](&s.journal.entries, iterationStep(n)); ok {
		s.remember(whole.Round)
		return whole.Round, nil
	}
	if err := s.journal.only(iterationStep(n)); err != nil {
		return Round{}, err
	}
	if err := s.goLive(ctx); err != nil {
		return Round{}, err
	}
	begun := len(s.journal.entries) > 0
	if !begun { // an iteration that was begun before an interruption is always finished
		if err := s.await(ctx, s.whole, true); err != nil {
			return Round{}, err
		}
		if err := s.admit(ctx, s.again != nil, ""); err != nil {
			return Round{}, err
		}
	}
	if s.own && s.machine.State() == DecidedDone { // the strategy goes on after a DONE
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

// Over reports whether an iteration ends the run, and how. An iteration from the journal ends it
// only if no other iteration follows there; a DONE with nothing after it does not: it is judged
// again.
func (s *Steps) Over(round Round) (Outcome, bool) {
	out, ends := round.ends()
	switch {
	case ends && !s.live:
		next, more := s.journal.next()
		return out, more && next.Iteration() == 0 || !more && (s.journal.left || !s.journal.Ended() && out.Reason != StopDone)
	case !ends && s.bound.until > 0 && s.progress.Iterations >= s.bound.until:
		return Outcome{Reason: StopMaxIterations, Cause: s.bound.by, Summary: round.Verdict.Guidance()}, true
	}
	return out, ends
}

// Bound limits the strategy to so many more iterations, on behalf of one of its parameters, until
// leave is called; 0 is no limit. An outer limit still applies.
func (s *Steps) Bound(iterations int, by string) (leave func()) {
	was := s.bound
	if most := s.progress.Iterations + iterations; iterations > 0 && (was.until == 0 || most < was.until) {
		s.bound = bound{most, by}
	}
	return func() { s.bound = was }
}

// Reset starts a new conversation for the actor and forgets the earlier rounds.
func (m *memory) Reset() {
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

// Task is what is to be done: the user's prompt, or the current part of it.
func (e *errand) Task() string { return cmp.Or(e.part, e.prompt) }

// FullTask is the task with the additional instructions for whoever works on it.
func (e *errand) FullTask() string {
	return strings.Join(append([]string{e.Task()}, e.beside...), "\n\n")
}

// Instruct adds an instruction for whoever works, until leave is called; "" adds nothing. Judges
// do not see it.
func (e *errand) Instruct(text string) (leave func()) {
	was := e.beside
	if text != "" {
		e.beside = append(slices.Clip(was), text)
	}
	return func() { e.beside = was }
}

// Focus restricts what follows to a part of the task, by which its iterations are judged. "" is the
// whole task again.
func (e *errand) Focus(task string) { e.part = task }

// Cast has the agent of a role play the actor and the turns that the actor's agent would play,
// until leave is called; "" is the actor's own. In all other respects these are turns of the
// actor.
func (e *errand) Cast(role Role) (leave func()) {
	was := e.actor
	e.actor = role
	return func() { e.actor = was }
}

// Step names a step of the running strategy, as in "critique.round_1".
func (e *errand) Step(format string, args ...any) Step {
	return e.within.Sub(fmt.Sprintf(format, args...))
}

// Within prefixes all step names with a step, until leave is called, so that a strategy can be
// run several times by another one.
func (e *errand) Within(step Step) (leave func()) {
	was := e.within
	e.within = step
	return func() { e.within = was }
}

// goLive ends reading from the journal: the next step is played.
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
			return err // the journal already has steps that come after these parts
		}
	}
	s.takeOver()
	_, err := s.open(ctx)
	return err
}

// takeOver initializes the run's figures from the journal. It happens once: whichever section
// goes live first does it for all.
func (s *section) takeOver() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.played {
		return
	}
	s.played = true
	s.ledger = s.journal.ledger.clone()
	s.progress.ConsecutiveErrors, s.progress.LastFailure, s.progress.LastProblem = 0, StopNone, "" // resuming means trying again
	pending := s.journal.Pending()
	if s.parent == nil || pending != nil || s.previous != nil { // else the conversation belongs to another section
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

// markOwnStep records that the strategy has taken a step of its own.
func (s *course) markOwnStep() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.own = true
}

// remember keeps the last round whole and the others without their texts, so that memory does not
// grow with the output of the agents.
func (s *section) remember(round Round) {
	s.progress.Iterations++
	s.progress.LastFailure, s.progress.LastProblem = round.Failure, failureText(round)
	if round.Failure == StopNone {
		s.progress.ConsecutiveErrors = 0
	} else {
		s.progress.ConsecutiveErrors++
	}
	s.previous, s.again = &round, nil
	// A new array each time: the critic may still hold the old one.
	s.history = append(slices.Clip(s.history), round.Outline())
}

// ends reports whether a round ends the run, and how.
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
