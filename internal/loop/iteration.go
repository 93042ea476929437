package loop

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// An Iteration is one iteration of a run, with the moves that a strategy makes in it, in the
// order of the state machine.
type Iteration struct {
	run   *section
	c     Case
	round Round // its result
	began time.Time
	trail

	overruled *string // what the user said instead of a review; nil: there will be one
}

// A trail is the phases of an iteration.
type trail struct {
	trace   []Phase
	entered time.Time // start of the current phase
}

// countTurn counts a turn that was played.
func (t *trail) countTurn(played *Turn, id string) {
	played.ID = id
	t.trace[len(t.trace)-1].Turns++
}

// leave closes the current phase.
func (t *trail) leave(now time.Time, waited time.Duration) {
	if n := len(t.trace); n > 0 {
		t.trace[n-1].Duration, t.trace[n-1].Waited = now.Sub(t.entered), waited
	}
}

// step returns a step of the iteration; "" is the iteration itself.
func (it *Iteration) step(name string) Step {
	whole := iterationStep(it.c.Iteration)
	if name == "" {
		return whole
	}
	return whole.Sub(name)
}

func actorStep(iteration int) Step { return iterationStep(iteration).Sub(string(RoleActor)) }

// Act has the actor play its turn. If the work of the previous iteration is to be judged again,
// nobody is asked, and its attempt is used for this one.
func (it *Iteration) Act(ctx context.Context) (err error) {
	step := actorStep(it.c.Iteration)
	if was, ok := take[ActorFinished](&it.run.journal.entries, step); ok {
		it.c.Attempt = was.Attempt
		return it.run.machine.To(ActorExecuting)
	}
	if err := it.run.journal.rest(); err != nil {
		return err
	}
	if err := cmp.Or(it.run.hear(), it.enter(step, ActorExecuting)); err != nil {
		return err
	}
	if it.run.again != nil {
		it.c.Attempt = *it.run.again
		return it.run.emit(step, ActorFinished{Iteration: it.c.Iteration, Attempt: it.c.Attempt})
	}
	brief := Brief{
		Iteration: it.c.Iteration, Step: step, ID: it.run.turnID(it.c.Iteration, RoleActor, 1), Task: it.run.add(it.run.FullTask()),
		Role: it.run.actor, Previous: it.run.previous, Baseline: it.run.baseline, Conversation: it.run.conversation,
	}
	turn, over := it.run.steering.begin(ctx)
	it.c.Attempt, err = it.run.at.Actor.Act(turn, brief, it.run.watch(step, RoleActor))
	words, interrupted := over()
	if err != nil {
		return fmt.Errorf("run the actor: %w", err)
	}
	it.countTurn(&it.c.Attempt.Turn, brief.ID)
	it.run.complaint = it.c.Attempt.Complaint()
	it.run.spend(RoleActor, it.c.Attempt.Turn)
	it.run.conversation = it.run.conversation.After(it.c.Attempt.Turn)
	err = cmp.Or(
		it.run.hear(),
		it.run.emit(step, ActorFinished{Iteration: it.c.Iteration, Attempt: it.c.Attempt}),
		it.run.late(step, RoleActor, it.c.Attempt.Turn),
	)
	if err != nil {
		return err
	}
	if interrupted {
		it.overruled = &words
	}
	if err := context.Cause(ctx); err != nil || interrupted {
		return err
	}
	return blocked(RoleActor, it.c.Attempt.Turn)
}

// Capture captures and saves what has changed since the session began. It also ends the run if
// the actor keeps failing without changing anything.
func (it *Iteration) Capture(ctx context.Context) (err error) {
	step := it.step("capture")
	if err := it.enter(step, CapturingDiff); err != nil {
		return err
	}
	meanwhile := it.run.meanwhile
	if it.c.Change, err = it.run.keep(ctx, it.step("")); err != nil {
		return err
	}
	it.c.Delta = it.c.Change
	if last := it.run.previous; last != nil {
		if it.c.Delta, err = it.run.at.Tree.Between(ctx, last.Change, it.c.Change); err != nil {
			return fmt.Errorf("compare the work tree with the iteration before: %w", err)
		}
	}
	if paths := it.c.Change.among(meanwhile); len(paths) > 0 {
		it.c.Change.Warnings = append(slices.Clip(it.c.Change.Warnings), it.run.meantime()+listed(paths))
	}
	if err := it.run.emit(step, DiffCaptured{Iteration: it.c.Iteration, Change: it.c.Change}); err != nil {
		return err
	}
	return failedTwice(it)
}

// Inspect lets the rules of the run look at the work. If they rule on it, there is nothing to
// check or to judge, and the run goes on with their ruling. A user who interrupts a turn
// overrules the rules.
func (it *Iteration) Inspect() (ruled bool, err error) {
	var ruling *Ruling
	it.c.Inspection, ruling = it.run.at.Gate.Inspect(it.c)
	if len(it.c.Inspection.Concerns) > 0 {
		err = it.run.emit(it.step("inspect"), Inspected{Iteration: it.c.Iteration, Inspection: it.c.Inspection})
	}
	if err != nil {
		return false, err
	}
	if it.overruled != nil {
		ruling = &Ruling{Verdict: Verdict{Decision: Continue, Feedback: *it.overruled}, Rule: RuleUser}
	}
	if ruling == nil {
		return false, nil
	}
	it.round.Unjudged = true
	if err := it.run.machine.To(CriticEvaluating); err != nil { // the rules take the critic's place
		return true, err
	}
	return true, it.decide(*ruling)
}

// Case returns the work of the iteration so far.
func (it *Iteration) Case() Case { return it.c }

// Checked reports whether the project has checks.
func (it *Iteration) Checked() bool { return it.run.at.Checker != nil }

// Conclude closes the iteration with a verdict that follows from its checks, or from what the
// actor says of its own work; no critic is asked. The rules of the run decide what the verdict is
// worth.
func (it *Iteration) Conclude(ctx context.Context, v Verdict) error {
	it.c.Step = it.step("")
	it.round.Unjudged, it.round.Review.Verdict = true, v
	if err := it.run.machine.To(CriticEvaluating); err != nil { // the verdict takes the critic's place
		return err
	}
	return it.judged(ctx)
}

// Judge has the critic judge the work, and the rules decide what the verdict is worth. The critic
// is asked until its reply is usable or the retries are used up. A turn that codeloops had to cut
// is not repeated: it would take the same time again. In addition to the retries, a verdict that
// would end the run is queried once if it does not mention open findings, and once if the critic has
// changed files in its view.
func (it *Iteration) Judge(ctx context.Context) error {
	if err := it.run.await(ctx, it.step(""), false); err != nil {
		return err
	}
	if err := it.run.admit(ctx, true, ""); err != nil {
		return err
	}
	it.c.Step = it.step(string(RoleCritic))
	if err := it.enter(it.c.Step, CriticEvaluating); err != nil {
		return err
	}
	if err := it.run.hear(); err != nil {
		return err
	}
	it.c.Task = it.run.add(it.run.Task())
	if it.run.session.Policy.Panel != nil {
		return it.judgeByPanel(ctx)
	}
	asks := 0
	review, err := it.run.loop.askCritic(it.c, func(c Case) (Review, string, error) {
		asks++
		it.c = c
		it.c.ID = it.run.turnID(c.Iteration, RoleCritic, asks)
		doubt, err := it.review(ctx)
		return it.round.Review, doubt, err
	}, func(c Case, r Review) error {
		return it.run.emit(c.Step, ReviewRejected{Iteration: c.Iteration, Review: r})
	})
	if err != nil {
		return err
	}
	it.round.Review = review
	return it.judged(ctx)
}

// askCritic asks a critic about a case until its reply is usable or the retries are used up. It calls
// rejected for each unusable reply.
func (l *Loop) askCritic(c Case, ask func(Case) (_ Review, doubt string, _ error), rejected func(Case, Review) error) (Review, error) {
	first, reminded, doubted := c.Step, false, false
	for n, retries := 1, 0; ; n++ {
		c.Step = asked(first, n)
		review, doubt, err := ask(c)
		switch {
		case err != nil:
			return review, err
		case review.Problem != "" && !review.Ending.Cut() && !review.Blocked() && retries < l.CriticRetries:
			retries++
		case review.Problem == "" && doubt != "" && !doubted:
			doubted = true
			review.Problem = doubt
		case review.Problem == "" && len(review.Unmentioned) > 0 && !reminded:
			reminded = true
			review.Problem = "it decides DONE and does not mention these open findings: " + strings.Join(review.Unmentioned, ", ")
		default:
			return review, nil
		}
		if err := rejected(c, review); err != nil {
			return review, err
		}
		c.Objection = &Objection{Problem: review.Problem, Reply: review.Reply, Changed: review.Written.Patch}
	}
}

// asked is the step of the nth try at a step.
func asked(step Step, n int) Step {
	if n == 1 {
		return step
	}
	return step.Sub(strconv.Itoa(n))
}

// judged closes the iteration with the verdict of a critic, or with one in its place.
func (it *Iteration) judged(ctx context.Context) error {
	if err := it.settle(ctx); err != nil {
		return err
	}
	if !it.round.Unjudged {
		if err := it.run.emit(it.c.Step, CriticFinished{Iteration: it.c.Iteration, Review: it.round.Review}); err != nil {
			return err
		}
	}
	ruling, err := it.rule(ctx)
	if err != nil {
		return err
	}
	return it.decide(ruling)
}

// review plays one turn of the critic.
func (it *Iteration) review(ctx context.Context) (doubt string, err error) {
	step := it.c.Step
	it.round.Review, err = it.run.at.Critic.Judge(ctx, it.c, it.run.watch(step, RoleCritic))
	if err != nil {
		return "", fmt.Errorf("run the critic: %w", err)
	}
	review := &it.round.Review
	it.countTurn(&review.Turn, it.c.ID)
	it.run.spend(RoleCritic, review.Turn)
	if err := cmp.Or(it.run.late(step, RoleCritic, review.Turn), context.Cause(ctx)); err != nil {
		return "", err
	}
	if err := it.run.tell(step, "the critic", review.Written); err != nil {
		return "", err
	}
	return review.weigh(it.run.at.Gate, it.c, it.run.strict()), blocked(RoleCritic, review.Turn)
}

// decide closes the iteration with the ruling that counts for the run.
func (it *Iteration) decide(ruling Ruling) error {
	r, c := &it.round, it.c
	r.Iteration, r.Attempt, r.Change, r.Inspection, r.Checks = c.Iteration, c.Attempt, c.Change, c.Inspection, c.Checks
	if it.run.previous != nil {
		r.Own = &c.Delta
	}
	r.Ruling = ruling
	r.Failure = failure(*r)
	it.leave(it.run.loop.Clock(), it.run.takeWaited(it.step("")))
	r.Trace = it.trace
	switch r.Verdict.Decision {
	case Done:
		return it.run.machine.To(DecidedDone)
	case Continue:
		return it.run.machine.To(DecidedContinue)
	case Error:
		return it.run.machine.To(DecidedError)
	}
	return fmt.Errorf("%w: decision %q", ErrTransition, r.Verdict.Decision)
}

// turnID names a turn of the iteration; ask counts from 1.
func (c *course) turnID(iteration int, role Role, ask int) string {
	return c.idOf(asked(Step(fmt.Sprintf("%s_%d", role, iteration)), ask))
}

// idOf names the turn of a step.
func (c *course) idOf(step Step) string {
	if c.session.ID == "" {
		return ""
	}
	return c.session.ID + "__" + strings.ReplaceAll(string(step), ".", "_")
}

// enter begins a phase.
func (it *Iteration) enter(step Step, s State) error {
	if err := it.run.machine.To(s); err != nil {
		return err
	}
	now := it.run.loop.Clock()
	it.leave(now, it.run.takeWaited(it.step("")))
	it.trace, it.entered = append(it.trace, Phase{State: s}), now
	return it.run.emit(step, PhaseEntered{Iteration: it.c.Iteration, State: s})
}
