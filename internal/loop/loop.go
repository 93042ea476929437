package loop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// ErrMaxDuration is the cause with which a caller cancels a run's context when
// its time is used up. Any other cancellation is an interruption.
var ErrMaxDuration = errors.New("the time for this run is used up")

// A Loop holds what a run needs. All fields but Checker must be set.
type Loop struct {
	Actor   Actor
	Tree    Tree
	Checker Checker // nil: the project has no checks, VERIFYING is left out
	Critic  Critic
	Gate    Gate
	Sink    Sink
	Clock   func() time.Time

	// CriticRetries is how often the critic is asked again, within one
	// iteration, after a reply that could not be used.
	CriticRetries int
}

// Run drives one session to its end. The outcome holds on every path; the
// error is set only when something broke (an agent could not be started, git
// failed, an event could not be recorded), and then Outcome.Result is Failed.
func (l *Loop) Run(ctx context.Context, s Session) (Outcome, error) {
	r := &run{Loop: l, began: l.Clock()}
	stop := r.drive(ctx, s)
	out := Outcome{
		Result:     stop.reason.Result(),
		Reason:     stop.reason,
		Iterations: r.progress.Iterations,
		Summary:    stop.summary,
		Confidence: stop.confidence,
		Duration:   l.Clock().Sub(r.began),
	}
	err := errors.Join(stop.err, r.machine.To(Ended))
	// Whatever broke before, the end is offered to the sink once.
	if e := r.emit(Finished{Outcome: out}); e != nil && stop.err == nil {
		err = errors.Join(err, e)
	}
	if err != nil {
		out.Result, out.Reason = Failed, StopInternal
	}
	return out, err
}

// run is the state of one session. Everything but emit belongs to the
// goroutine that called Run.
type run struct {
	*Loop
	began    time.Time
	machine  Machine
	progress Progress
	history  []Round // without their texts
	previous *Round  // the last one, whole

	mu     sync.Mutex // guards seq, broken and the sink: agents report while their turn lasts
	seq    int
	broken error
}

// A stop is why drive came back.
type stop struct {
	reason     StopReason
	summary    string
	confidence *float64
	err        error
}

func failed(err error) stop {
	return stop{reason: StopInternal, summary: err.Error(), err: err}
}

func (r *run) drive(ctx context.Context, s Session) stop {
	if err := r.emit(Started{Session: s}); err != nil {
		return failed(err)
	}
	for {
		if end, over := r.mayNot(ctx, RoleActor); over {
			return end
		}
		round, end, over := r.iterate(ctx, s.Prompt)
		if over {
			return end
		}
		r.remember(round)
		if end, over := decided(round); over {
			return end
		}
	}
}

// mayNot asks the context and the gate whether the run ends before the next
// turn.
func (r *run) mayNot(ctx context.Context, next Role) (stop, bool) {
	if ctx.Err() != nil {
		return cancelled(ctx), true
	}
	r.progress.Elapsed = r.Clock().Sub(r.began)
	r.progress.Next = next
	reason, why := r.Gate.Stop(r.progress)
	return stop{reason: reason, summary: why}, reason != StopNone
}

func cancelled(ctx context.Context) stop {
	if errors.Is(context.Cause(ctx), ErrMaxDuration) {
		return stop{reason: StopMaxDuration, summary: ErrMaxDuration.Error()}
	}
	return stop{reason: StopInterrupted, summary: "interrupted"}
}

func decided(round Round) (stop, bool) {
	v := round.Verdict
	switch {
	case v.Escalation != "":
		return stop{reason: StopPolicyEscalation, summary: v.Escalation}, true
	case v.Decision == Done:
		return stop{reason: StopDone, summary: v.Summary, confidence: v.Confidence}, true
	}
	return stop{}, false
}

// iterate runs one whole iteration; over is true when the run ended in it.
func (r *run) iterate(ctx context.Context, task string) (round Round, end stop, over bool) {
	began := r.Clock()
	round.Iteration = r.progress.Iterations + 1
	c := Case{Iteration: round.Iteration, Task: task, History: r.history}

	err := r.emit(IterationStarted{Iteration: round.Iteration})
	for _, step := range []func(context.Context, *Case) error{r.act, r.capture, r.verify} {
		if err == nil {
			err = step(ctx, &c)
		}
	}
	if err == nil {
		if end, over := r.mayNot(ctx, RoleCritic); over {
			return round, end, true
		}
		round.Review, err = r.judge(ctx, c)
	}
	if err == nil {
		round.Attempt, round.Change, round.Checks = c.Attempt, c.Change, c.Checks
		err = r.decide(c, &round)
	}
	if err == nil {
		round.Duration = r.Clock().Sub(began)
		err = r.emit(IterationFinished{Round: round})
	}
	switch {
	case err == nil:
		return round, stop{}, false
	case ctx.Err() != nil && r.failure() == nil:
		return round, cancelled(ctx), true
	}
	return round, failed(err), true
}

func (r *run) act(ctx context.Context, c *Case) (err error) {
	if err := r.enter(c.Iteration, ActorExecuting); err != nil {
		return err
	}
	brief := Brief{Iteration: c.Iteration, Task: c.Task, Previous: r.previous}
	c.Attempt, err = r.Actor.Act(ctx, brief, r.watch(c.Iteration, RoleActor))
	if err != nil {
		return fmt.Errorf("run the actor: %w", err)
	}
	if err := r.emit(ActorFinished{Iteration: c.Iteration, Attempt: c.Attempt}); err != nil {
		return err
	}
	return context.Cause(ctx)
}

func (r *run) capture(ctx context.Context, c *Case) (err error) {
	if err := r.enter(c.Iteration, CapturingDiff); err != nil {
		return err
	}
	c.Change, err = r.Tree.Capture(ctx)
	if err != nil {
		return fmt.Errorf("capture the diff: %w", err)
	}
	return r.emit(DiffCaptured{Iteration: c.Iteration, Change: c.Change})
}

func (r *run) verify(ctx context.Context, c *Case) (err error) {
	if r.Checker == nil {
		return nil
	}
	if err := r.enter(c.Iteration, Verifying); err != nil {
		return err
	}
	c.Checks, err = r.Checker.Check(ctx)
	if err != nil {
		return fmt.Errorf("run the checks: %w", err)
	}
	if err := r.emit(ChecksFinished{Iteration: c.Iteration, Checks: c.Checks}); err != nil {
		return err
	}
	return r.undo(ctx, *c, "a check")
}

// judge asks the critic until its reply can be used or it has been asked often
// enough. A turn that codeloops had to cut is not asked for again: it would
// cost the same time once more.
func (r *run) judge(ctx context.Context, c Case) (Review, error) {
	if err := r.enter(c.Iteration, CriticEvaluating); err != nil {
		return Review{}, err
	}
	for ask := 0; ; ask++ {
		review, err := r.Critic.Judge(ctx, c, r.watch(c.Iteration, RoleCritic))
		if err != nil {
			return review, fmt.Errorf("run the critic: %w", err)
		}
		if err := context.Cause(ctx); err != nil {
			return review, err
		}
		if err := r.undo(ctx, c, "the critic"); err != nil {
			return review, err
		}
		if review.Problem == "" || review.Ending.Cut() || ask >= r.CriticRetries {
			return review, r.emit(CriticFinished{Iteration: c.Iteration, Review: review})
		}
		if err := r.emit(ReviewRejected{Iteration: c.Iteration, Review: review}); err != nil {
			return review, err
		}
		c.Objection = &Objection{Problem: review.Problem, Reply: review.Reply}
	}
}

// undo puts the work tree back when somebody else than the actor has changed
// it: a verdict is on what the actor left, and the next diff must be the
// actor's alone.
func (r *run) undo(ctx context.Context, c Case, who string) error {
	now, err := r.Tree.Capture(ctx)
	if err != nil {
		return fmt.Errorf("compare the work tree after %s: %w", who, err)
	}
	if now.State == c.Change.State {
		return nil
	}
	kept, err := r.Tree.Restore(ctx, c.Change)
	if err != nil {
		return fmt.Errorf("undo what %s changed: %w", who, err)
	}
	return r.emit(Warned{
		Iteration: c.Iteration,
		Text:      fmt.Sprintf("%s changed the work tree (%s): undone, %s", who, listed(differing(c.Change, now)), kept),
	})
}

// decide lets the gate rule, moves the machine and counts failures.
func (r *run) decide(c Case, round *Round) error {
	round.Verdict = round.Review.Verdict
	if problem := round.Review.Problem; problem != "" {
		round.Verdict = Verdict{Decision: Error, Analysis: "The review gave no verdict: " + problem}
	}
	round.Verdict = r.Gate.Rule(c, round.Verdict)
	round.Failure = failure(*round)
	switch round.Verdict.Decision {
	case Done:
		return r.machine.To(DecidedDone)
	case Continue:
		return r.machine.To(DecidedContinue)
	case Error:
		return r.machine.To(DecidedError)
	}
	return fmt.Errorf("%w: decision %q", ErrTransition, round.Verdict.Decision)
}

// failure says why an iteration counts as an error: the review came to
// nothing, the actor's turn was cut short without the work being done, or the
// critic said ERROR.
func failure(round Round) StopReason {
	switch {
	case round.Review.Problem != "":
		return cutReason(round.Review.Ending, StopCriticTimeout, StopNoDecision)
	case round.Verdict.Decision == Done:
		return StopNone
	case round.Attempt.Ending.Cut():
		return cutReason(round.Attempt.Ending, StopActorTimeout, StopConsecutiveErrors)
	case round.Verdict.Decision == Error:
		return StopConsecutiveErrors
	}
	return StopNone
}

func cutReason(e Ending, timeout, other StopReason) StopReason {
	switch e {
	case EndTimedOut, EndIdle:
		return timeout
	case EndOutputLimit:
		return StopOutputLimit
	case EndCompleted, EndEmpty, EndFailed, EndInterrupted, EndAuth, EndRateLimited,
		EndOverloaded, EndContextTooLong, EndPermissionDenied:
	}
	return other
}

// remember keeps the last round whole and the others without their texts, so
// that a long session does not grow with what its agents print.
func (r *run) remember(round Round) {
	r.progress.Iterations++
	r.progress.LastFailure = round.Failure
	if round.Failure == StopNone {
		r.progress.ConsecutiveErrors = 0
	} else {
		r.progress.ConsecutiveErrors++
	}
	r.previous = &round
	// A new array each time: the critic may still hold the old one.
	r.history = append(slices.Clip(r.history), round.outline())
}

func (r *run) enter(iteration int, s State) error {
	if err := r.machine.To(s); err != nil {
		return err
	}
	return r.emit(PhaseEntered{Iteration: iteration, State: s})
}

func (r *run) watch(iteration int, role Role) Watch {
	return func(n Notice) {
		// A sink that fails here fails the run at the next event.
		_ = r.emit(Activity{Iteration: iteration, Role: role, Notice: n})
	}
}

// emit stamps an event and hands it to the sink. After the first failure only
// the end is offered.
func (r *run) emit(e Event) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, end := e.(Finished); r.broken != nil && !end {
		return r.broken
	}
	if err := r.Sink.Handle(Stamp{Seq: r.seq + 1, Time: r.Clock()}, e); err != nil {
		r.broken = err
		return err
	}
	r.seq++
	return nil
}

func (r *run) failure() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.broken
}
