package replay

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"codeloops/internal/critic"
	"codeloops/internal/critique"
	"codeloops/internal/loop"
	"codeloops/internal/policy"
)

// A Report is what [Verify] has found.
type Report struct {
	Iterations  int      // compared
	Differences []string // sentences
	// Partly says why not everything could be compared, "" when it was.
	Partly string
	// Outcome is how the recorded session ended; nil when it has no end.
	Outcome *loop.Outcome
}

// Verify lets today's loop run on a recorded session: the actor and the work
// tree answer what the log says, and what the critic had replied is read anew.
// open is called twice, for the log from its beginning. A session that ended by
// what no loop decides (an interruption, a fault, a budget) is compared as far
// as it goes. Decisions are compared, not the words that codeloops has for them.
// An error means that nothing could be compared.
func Verify(ctx context.Context, open func() (Entries, func() error, error)) (Report, error) {
	var s setting
	err := reading(open, func(entries Entries) (err error) {
		s, err = settingOf(entries)
		return err
	})
	if err != nil {
		return Report{}, err
	}
	var report Report
	err = reading(open, func(entries Entries) error {
		v := &verifier{setting: s, script: newScript(entries)}
		defer v.script.stop()
		report, err = v.run(ctx)
		return err
	})
	return report, err
}

func reading(open func() (Entries, func() error, error), use func(Entries) error) error {
	entries, closed, err := open()
	if err != nil {
		return err
	}
	return errors.Join(use(entries), closed())
}

// errOver is the answer of the log to what it does not hold: one more turn.
var errOver = errors.New("the recording is over")

// verifier is every port of a loop, answered from a log, and the sink that
// compares. It belongs to the goroutine of the loop.
type verifier struct {
	setting setting
	script  *script
	report  Report

	now      course // the iteration that is played
	asks     int    // how often the critic has been asked in it
	phases   []loop.State
	rejected int
	meddled  []string // what the critic's last turn had changed, while it is not undone
	broke    error    // reading the log
}

func (v *verifier) run(ctx context.Context) (Report, error) {
	l := &loop.Loop{
		Actor: v, Tree: v, Critic: v, Sink: v,
		Gate: &gate{
			Gate: policy.Gate{
				MaxIterations: v.setting.session.MaxIterations, MaxConsecutiveErrors: v.setting.errors,
			},
			v: v,
		},
		Clock:         func() time.Time { return time.Time{} }, // no limit of time is played
		CriticRetries: v.setting.retries,
	}
	if v.setting.checks {
		l.Checker = v
	}
	out, err := l.Run(ctx, v.setting.session)
	switch {
	case v.broke != nil:
		return v.report, v.broke
	case ctx.Err() != nil:
		return v.report, context.Cause(ctx)
	case err != nil && !errors.Is(err, errOver):
		v.differf("the loop breaks: %v", err)
	}
	v.end(out, errors.Is(err, errOver))
	return v.report, nil
}

// Act implements [loop.Actor].
func (v *verifier) Act(context.Context, loop.Brief, loop.Watch) (loop.Attempt, error) {
	c, ok, err := v.script.iteration()
	if err != nil {
		v.broke = err
		return loop.Attempt{}, err
	}
	if !ok {
		return loop.Attempt{}, errOver
	}
	v.now, v.asks = c, 0
	return c.round.Attempt, nil
}

// Capture implements [loop.Tree]: the tree is as the actor left it, or the critic.
func (v *verifier) Capture(context.Context) (loop.Change, error) {
	c := v.now.round.Change
	if len(v.meddled) > 0 {
		c.State += " meddled with"
	}
	for _, path := range v.meddled {
		c.Files = append(slices.Clip(c.Files), loop.FileChange{Path: path, Patch: "meddled with"})
	}
	return c, nil
}

// Between implements [loop.Tree].
func (v *verifier) Between(context.Context, loop.Change, loop.Change) (loop.Change, error) {
	return loop.Change{State: v.now.round.Change.State}, nil
}

// Checkpoint implements [loop.Tree].
func (v *verifier) Checkpoint(_ context.Context, _ int, c loop.Change) (string, error) {
	return c.Checkpoint, nil
}

// Restore implements [loop.Tree].
func (v *verifier) Restore(context.Context, loop.Change) (string, error) {
	v.meddled = nil
	return "as recorded", nil
}

// Check implements [loop.Checker].
func (v *verifier) Check(context.Context, int) iter.Seq2[loop.CheckResult, error] {
	return func(yield func(loop.CheckResult, error) bool) {
		for _, result := range v.now.round.Checks {
			if !yield(result, nil) {
				return
			}
		}
	}
}

// Judge implements [loop.Critic] with the replies that the critic gave.
func (v *verifier) Judge(context.Context, loop.Case, loop.Watch) (loop.Review, error) {
	ask := v.asks
	v.asks++
	switch {
	case ask < len(v.now.rejected):
		return v.reread(v.now.rejected[ask]), nil
	case ask == len(v.now.rejected):
		return v.reread(v.now.round.Review), nil
	}
	v.differf("iteration %d: the critic's last reply cannot be used today: it would be asked again", v.now.round.Iteration)
	return loop.Review{}, errOver
}

// reread reads a reply as it is read today. A log without replies, as the
// original writes it, is taken at its word.
func (v *verifier) reread(r loop.Review) loop.Review {
	v.meddled = r.Undone
	blank := strings.TrimSpace(r.Reply) == ""
	if blank && r.Problem == "" {
		return r
	}
	said := r.Problem
	r.Verdict, r.Problem = loop.Verdict{}, ""
	if blank || r.Ending != loop.EndCompleted || r.ExitCode != 0 {
		if r.Problem = said; said == "" {
			r.Problem = "the critic's turn failed"
		}
		return r
	}
	critic.Reread(&r, critique.Of(v.setting.policyAt(v.now.round.Iteration)))
	return r
}

// Handle implements [loop.Sink].
func (v *verifier) Handle(_ loop.Stamp, e loop.Event) error {
	switch e := e.(type) {
	case loop.IterationStarted:
		v.phases, v.rejected = nil, 0
	case loop.PhaseEntered:
		v.phases = append(v.phases, e.State)
	case loop.ReviewRejected:
		v.rejected++
	case loop.IterationFinished:
		v.report.Iterations++
		v.compare(e.Round)
	case loop.Started, loop.Resumed, loop.Activity, loop.WaitStarted, loop.WaitFinished, loop.ActorFinished, loop.DiffCaptured,
		loop.Inspected, loop.BaselineChecked, loop.ChecksFinished, loop.CriticFinished, loop.Warned, loop.Finished:
	}
	return nil
}

func (v *verifier) differf(format string, args ...any) {
	v.report.Differences = append(v.report.Differences, fmt.Sprintf(format, args...))
}

// gate is today's, which begins to count errors anew where the session was
// resumed, and keeps the policy that the session kept.
type gate struct {
	policy.Gate
	v        *verifier
	forgiven int
}

// Stop implements [loop.Gate].
func (g *gate) Stop(p loop.Progress) (loop.StopReason, string) {
	if g.v.setting.resumed[p.Iterations] {
		g.forgiven = p.ConsecutiveErrors
	}
	g.forgiven = min(g.forgiven, p.ConsecutiveErrors)
	p.ConsecutiveErrors -= g.forgiven
	if g.v.setting.again[p.Iterations] {
		p.Next = loop.RoleCritic
	}
	return g.Gate.Stop(p)
}

// Inspect implements [loop.Gate] with what the rules found then: the work that
// they looked at is not in the log.
func (g *gate) Inspect(loop.Case) (loop.Inspection, *loop.Ruling) {
	round := g.v.now.round
	if !round.Unjudged {
		return round.Inspection, nil
	}
	ruling := g.resumed(round.Iteration, round.Ruling)
	return round.Inspection, &ruling
}

// Ends implements [loop.Gate].
func (g *gate) Ends(c loop.Case, r loop.Review) (done bool, unmentioned []string) {
	return policy.Gate{Rulers: policy.Rulers(g.v.setting.policyAt(c.Iteration))}.Ends(c, r)
}

// Rule implements [loop.Gate].
func (g *gate) Rule(c loop.Case, r loop.Review) loop.Ruling {
	g.Rulers = policy.Rulers(g.v.setting.policyAt(c.Iteration))
	for i, ruler := range g.Rulers {
		g.Rulers[i] = quoting{ruler, g.v.now.round.Verdict}
	}
	return g.resumed(c.Iteration, g.Gate.Rule(c, r))
}

// quoting is a rule that decides as today, in the words of the log: with those the
// actor went on, and what follows is to hang on no others.
type quoting struct {
	policy.Ruler
	log loop.Verdict
}

// Rule implements [policy.Ruler].
func (q quoting) Rule(c loop.Case, r loop.Review, so loop.Ruling) loop.Ruling {
	so = q.Ruler.Rule(c, r, so)
	if so.Rule != "" && so.Verdict.Decision == q.log.Decision {
		so.Verdict.Feedback = q.log.Feedback
	}
	return so
}

// resumed lets the loop go on after a rule that ended it, where the session was
// resumed, and after a DONE that was judged again.
func (g *gate) resumed(iteration int, r loop.Ruling) loop.Ruling {
	if log := &g.v.now.round; g.v.setting.again[iteration] && r.Verdict.Decision == loop.Done && log.Verdict.Decision == loop.Done {
		r.Verdict.Decision, log.Verdict.Decision = loop.Continue, loop.Continue
	}
	if log := &g.v.now.round; g.v.setting.resumed[iteration] && r.Stop == log.Stop {
		r.Stop, log.Stop = loop.StopNone, loop.StopNone
	}
	return r
}

// samePhases compares the phases of an iteration. Where a project's checks came
// or went in a session, they are left out.
func (v *verifier) samePhases() bool {
	if !v.setting.ours {
		return true
	}
	a, b := v.now.phases, v.phases
	if v.setting.mixed {
		verifying := func(s loop.State) bool { return s == loop.Verifying }
		a, b = slices.DeleteFunc(slices.Clone(a), verifying), slices.DeleteFunc(slices.Clone(b), verifying)
	}
	return slices.Equal(a, b)
}
