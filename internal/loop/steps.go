package loop

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// iterate runs one whole iteration; over is true when the run ended in it.
func (r *run) iterate(ctx context.Context, task string) (round Round, end stop, over bool) {
	began := r.Clock()
	r.trace = nil
	c := Case{Iteration: r.progress.Iterations + 1, Task: task, History: r.history}
	ruling, err := r.work(ctx, &c)
	switch {
	case err != nil:
	case ruling != nil:
		round.Unjudged, err = true, r.machine.To(CriticEvaluating) // which the rules do here
	default:
		if err = r.verify(ctx, &c); err != nil {
			break
		}
		if end, over := r.mayNot(ctx, RoleCritic); over {
			return round, end, true
		}
		round.Review, err = r.judge(ctx, c)
	}
	if err == nil {
		round.Iteration, round.Attempt, round.Change, round.Inspection, round.Checks = c.Iteration, c.Attempt, c.Change, c.Inspection, c.Checks
		err = r.decide(ctx, c, ruling, &round)
	}
	if err == nil {
		round.Duration = r.Clock().Sub(began)
		err = r.emit(IterationFinished{Round: round})
	}
	if err != nil {
		return round, r.broke(ctx, err), true
	}
	return round, stop{}, false
}

// work is the actor's part of an iteration. The ruling is the gate's, if it has
// one on the work itself.
func (r *run) work(ctx context.Context, c *Case) (ruling *Ruling, err error) {
	err = r.open(c.Iteration)
	for _, step := range []func(context.Context, *Case) error{r.act, r.capture} {
		if err == nil {
			err = step(ctx, c)
		}
	}
	if err == nil {
		err = r.hopeless(*c)
	}
	if err != nil {
		return nil, err
	}
	c.Inspection, ruling = r.Gate.Inspect(*c)
	if len(c.Inspection.Concerns) > 0 {
		err = r.emit(Inspected{Iteration: c.Iteration, Inspection: c.Inspection})
	}
	return ruling, err
}

// broke says how an error within an iteration ends the run.
func (r *run) broke(ctx context.Context, err error) stop {
	if ctx.Err() != nil && r.unwritten() == nil {
		return cancelled(ctx)
	}
	if b, ok := errors.AsType[*blockedError](err); ok {
		return stop{reason: b.reason, summary: b.Error()}
	}
	return failed(err)
}

// A blockedError is an agent that cannot work until a person does something
// about it: to go on would cost iterations and bring nothing.
type blockedError struct {
	reason   StopReason
	sentence string
}

func (e *blockedError) Error() string { return e.sentence }

// blocked returns a [*blockedError] for a turn that says so, else nil.
func blocked(role Role, t Turn) error {
	if !t.Blocked() {
		return nil
	}
	e := &blockedError{StopAgentAuth, fmt.Sprintf("the %s's agent is not signed in", role)}
	if t.Ending == EndPermissionDenied {
		e.sentence = fmt.Sprintf("the %s's agent is not allowed to work", role)
	}
	if t.Ending == EndRateLimited {
		e.reason, e.sentence = StopAgentRateLimited, fmt.Sprintf("the %s's agent has reached its rate limit", role)
		if !t.ResetAt.IsZero() {
			e.sentence += " until " + t.ResetAt.UTC().Format(time.RFC3339)
		}
	}
	if t.Reason != "" {
		e.sentence += ": " + t.Reason
	}
	return e
}

// open begins an iteration, unless a resumed run is already in it.
func (r *run) open(iteration int) error {
	if r.pending != nil {
		return nil
	}
	return r.emit(IterationStarted{Iteration: iteration})
}

func (r *run) act(ctx context.Context, c *Case) (err error) {
	if r.pending != nil {
		c.Attempt, r.pending = *r.pending, nil
		return r.machine.To(ActorExecuting)
	}
	if err := r.enter(c.Iteration, ActorExecuting); err != nil {
		return err
	}
	if r.undecided != nil {
		c.Attempt, r.undecided = *r.undecided, nil
		return r.emit(ActorFinished{Iteration: c.Iteration, Attempt: c.Attempt})
	}
	brief := Brief{Iteration: c.Iteration, ID: r.turnID(RoleActor, c.Iteration, 1), Task: c.Task, Previous: r.previous, Baseline: r.baseline}
	brief.Conversation = r.conversation
	c.Attempt, err = r.Actor.Act(ctx, brief, r.watch(c.Iteration, RoleActor))
	if err != nil {
		return fmt.Errorf("run the actor: %w", err)
	}
	r.took(&c.Attempt.Turn, brief.ID)
	r.complaint = c.Attempt.Complaint()
	r.progress.Spent.Add(RoleActor, c.Attempt.Turn)
	r.conversation = r.conversation.After(c.Attempt.Turn)
	if err := r.emit(ActorFinished{Iteration: c.Iteration, Attempt: c.Attempt}); err != nil {
		return err
	}
	if err := r.late(c.Iteration, RoleActor, c.Attempt.Turn); err != nil {
		return err
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return blocked(RoleActor, c.Attempt.Turn)
}

// late tells of what came after the end of a turn.
func (r *run) late(iteration int, role Role, t Turn) error {
	if t.Late.Total == 0 {
		return nil
	}
	text := fmt.Sprintf("what the %s left running printed %d bytes after the turn had ended: they count for nothing", role, t.Late.Total)
	if t.Late.File != "" {
		text += ", and stand in " + t.Late.File
	}
	return r.emit(Warned{Iteration: iteration, Text: text})
}

func (r *run) capture(ctx context.Context, c *Case) (err error) {
	if err := r.enter(c.Iteration, CapturingDiff); err != nil {
		return err
	}
	c.Change, err = r.Tree.Capture(ctx)
	if err != nil {
		return fmt.Errorf("capture the diff: %w", err)
	}
	c.Change.Checkpoint, err = r.Tree.Checkpoint(ctx, c.Iteration, c.Change)
	if err != nil {
		return fmt.Errorf("keep the state of the work tree: %w", err)
	}
	c.Step = c.Change
	if r.previous != nil {
		c.Step, err = r.Tree.Between(ctx, r.previous.Change, c.Change)
		if err != nil {
			return fmt.Errorf("compare the work tree with the iteration before: %w", err)
		}
	}
	r.position = c.Change.Position
	return r.emit(DiffCaptured{Iteration: c.Iteration, Change: c.Change})
}

// judge asks the critic until its reply can be used or it has been asked often
// enough. A turn that codeloops had to cut is not asked for again: it would
// cost the same time once more. A verdict that would end the run without a word on
// findings that are open is asked about once, beside that.
func (r *run) judge(ctx context.Context, c Case) (Review, error) {
	if err := r.enter(c.Iteration, CriticEvaluating); err != nil {
		return Review{}, err
	}
	reminded := false
	for ask, retries := 1, 0; ; ask++ {
		c.ID = r.turnID(RoleCritic, c.Iteration, ask)
		review, err := r.review(ctx, &c)
		if err != nil {
			return review, err
		}
		switch {
		case review.Problem != "" && !review.Ending.Cut() && retries < r.CriticRetries:
			retries++
		case review.Problem == "" && len(review.Unmentioned) > 0 && !reminded:
			reminded = true
			review.Problem = "it decides DONE and says nothing of these open findings: " + strings.Join(review.Unmentioned, ", ")
		default:
			return review, r.emit(CriticFinished{Iteration: c.Iteration, Review: review})
		}
		if err := r.emit(ReviewRejected{Iteration: c.Iteration, Review: review}); err != nil {
			return review, err
		}
		c.Objection = &Objection{Problem: review.Problem, Reply: review.Reply}
	}
}

// review is one turn of the critic. What it changed in the work tree is undone; a
// verdict that would end the run is none then, as it is on what was undone; nor is it
// one where git may have shown it something else than the critic was told.
func (r *run) review(ctx context.Context, c *Case) (Review, error) {
	review, err := r.Critic.Judge(ctx, *c, r.watch(c.Iteration, RoleCritic))
	if err != nil {
		return review, fmt.Errorf("run the critic: %w", err)
	}
	r.took(&review.Turn, c.ID)
	r.progress.Spent.Add(RoleCritic, review.Turn)
	if err := r.late(c.Iteration, RoleCritic, review.Turn); err != nil {
		return review, err
	}
	if err := context.Cause(ctx); err != nil {
		return review, err
	}
	done, unmentioned := r.Gate.Ends(*c, review)
	meddled, err := r.undo(ctx, *c, "the critic")
	if err != nil {
		return review, err
	}
	warned := len(c.Change.Warnings)
	c.Change.Warnings = union(c.Change.Warnings, meddled.now.Git)
	review.Undone = meddled.paths
	if review.Unmentioned = unmentioned; done && len(meddled.paths) > 0 {
		review.Unmentioned = nil
		review.Problem = fmt.Sprintf("the critic changed the work tree and decides DONE on what it changed; that is undone, %s: "+
			"judge the work tree as it is now, and leave it as it is. Changed was %s", meddled.kept, listed(meddled.paths))
	}
	if done && review.Problem == "" && len(c.Change.Warnings) > warned {
		review.Unmentioned = nil
		review.Problem = "while it judged, git was set up in another way, and may have shown it something else: look at the last of the notes on the diff, and decide again"
	}
	return review, blocked(RoleCritic, review.Turn)
}

// decide lets the gate rule, moves the machine and counts failures.
func (r *run) decide(ctx context.Context, c Case, ruling *Ruling, round *Round) (err error) {
	if ruling != nil {
		round.Ruling = *ruling
	} else if round.Ruling, err = r.rule(ctx, &c, round.Review); err != nil {
		return err
	}
	round.Checks = c.Checks
	round.Failure = failure(*round)
	r.leave()
	round.Trace = r.trace
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
	case round.Review.Problem != "" && round.Verdict.Decision == Error:
		return cutReason(round.Review.Ending, StopCriticTimeout, StopNoDecision)
	case round.Verdict.Decision == Done:
		return StopNone
	case round.Attempt.Ending.Cut(), round.Attempt.Ending.Stuck():
		return cutReason(round.Attempt.Ending, StopActorTimeout, StopConsecutiveErrors)
	case round.Verdict.Decision == Error:
		return StopConsecutiveErrors
	}
	return StopNone
}

// trouble is what was said of an iteration that counts as an error.
func trouble(round Round) string {
	switch {
	case round.Failure == StopNone:
		return ""
	case round.Review.Problem != "":
		return round.Review.Problem
	case round.Attempt.Ending.Cut(), round.Attempt.Ending.Stuck():
		return round.Attempt.Reason
	}
	return round.Verdict.Analysis
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

// turnID names a turn; ask counts from 1 within an iteration.
func (r *run) turnID(role Role, iteration, ask int) string {
	if r.session == "" {
		return ""
	}
	id := fmt.Sprintf("%s__%s_%d", r.session, role, iteration)
	if ask > 1 {
		id += fmt.Sprintf("_%d", ask)
	}
	return id
}

// took notes a turn that was played.
func (r *run) took(t *Turn, id string) {
	t.ID = id
	r.trace[len(r.trace)-1].Turns++
}

// leave closes the phase under way.
func (r *run) leave() {
	if n := len(r.trace); n > 0 {
		r.trace[n-1].Duration, r.trace[n-1].Waited = r.Clock().Sub(r.entered), r.takeWaited()
	}
}

func (r *run) enter(iteration int, s State) error {
	if err := r.machine.To(s); err != nil {
		return err
	}
	r.leave()
	r.trace, r.entered = append(r.trace, Phase{State: s}), r.Clock()
	return r.emit(PhaseEntered{Iteration: iteration, State: s})
}
