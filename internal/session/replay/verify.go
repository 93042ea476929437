package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"codeloops/internal/critic/verdict"
	"codeloops/internal/loop"
	"codeloops/internal/policy"
	"codeloops/internal/redact"
	"codeloops/internal/strategy"
)

// Verify runs today's loop on a recorded session, each run of it over the journal of those
// before. The actor and the work tree answer as recorded, and the critic's replies are parsed
// again. A session that ended for a reason that no loop decides (an interruption, a fault, a
// budget) is compared as far as it goes. Decisions are compared, but not codeloops' own words
// about them. An error means that nothing could be compared.
func Verify(ctx context.Context, entries Entries) (Report, error) {
	runs, err := recorded(entries)
	if err != nil {
		return Report{}, err
	}
	v := &verifier{}
	for _, r := range runs {
		if err := v.play(ctx, r); err != nil {
			return v.report, err
		}
		if r.broken != "" {
			break
		}
	}
	return v.report, nil
}

// errOver is the answer to a turn that the log does not hold.
var errOver = errors.New("the recording is over")

// verifier implements every port of a loop with answers from a log, and the sink that
// compares. Its methods run in the loop's goroutine.
type verifier struct {
	run    *run
	at     loop.Workplace
	report Report

	mu sync.Mutex // guards the differences: parts of a strategy run concurrently

	left   []course // iterations of the run in the log that have not been played
	played int      // how many have
	over   bool     // one more is being played
	iteration
}

// iteration is the one that is being played.
type iteration struct {
	current  int    // its number
	now      course // in the log
	asks     int    // how often the critic was asked in it
	phases   []loop.State
	rejected int
	stale    bool // the work tree had changed when the critic had decided
}

// play plays one run, over the journal of the session before it.
func (v *verifier) play(ctx context.Context, r *run) error {
	v.run, v.left, v.played, v.over, v.current = r, r.rounds, 0, false, 0
	choice, err := strategy.Read(r.session.Strategy)
	if err != nil {
		return fmt.Errorf("play it again: %w", err)
	}
	driven, err := choice.Drive(unread{})
	if err != nil {
		return fmt.Errorf("play it again: %w", err)
	}
	journal := cmp.Or(r.before, &loop.Journal{})
	if len(r.rounds) > 0 { // what the resumed run read of a pending turn is in the line of its iteration
		journal.Complete(r.rounds[0].round.Attempt.Stdout.Text, "")
	}
	for _, own := range r.own {
		journal.Know(own.At, v.member(own.At, own.Event))
	}
	journal.Differs = v.noted
	l := &loop.Loop{
		Workplace: loop.Workplace{Actor: v, Tree: v, Critic: v, Player: past{}, Forker: v, Restorer: past{}, Commander: past{}, Gate: &gate{
			Gate: policy.Gate{MaxIterations: r.session.MaxIterations, MaxConsecutiveErrors: r.errors()},
			v:    v,
		}},
		Strategy: driven,
		Ask:      func(context.Context, string) (string, error) { return "", errOver },
		Sink:     v,
		Clock:    func() time.Time { return time.Time{} },
		// no limit of time is played
		CriticRetries: r.retries,
	}
	if r.checks {
		l.Checker = v
	}
	if p := r.session.Policy.Panel; p != nil {
		for range p.Members {
			l.Panel = append(l.Panel, past{})
		}
	}
	v.at = l.Workplace
	var out loop.Outcome
	if r.before == nil {
		out, err = l.Play(ctx, r.session, journal)
	} else {
		out, err = l.Resume(ctx, r.session, journal)
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil && !errors.Is(err, errOver):
		v.differf("the loop breaks: %v", err)
	}
	v.end(out, errors.Is(err, errOver))
	return nil
}

// begin advances to the next recorded iteration.
func (v *verifier) begin(number int) {
	v.iteration = iteration{current: number}
	if v.over = len(v.left) == 0; !v.over {
		v.now, v.left = v.left[0], v.left[1:]
	}
}

// Act implements [loop.Actor].
func (v *verifier) Act(context.Context, loop.Brief, loop.Watch) (loop.Attempt, error) {
	return v.now.round.Attempt, v.ended()
}

// ended is the error if the log holds no more.
func (v *verifier) ended() error {
	if v.over {
		return errOver
	}
	return nil
}

// Capture implements [loop.Tree]: the tree is as the actor left it, or stale.
func (v *verifier) Capture(context.Context) (loop.Change, error) {
	c := v.now.round.Change
	if v.stale {
		c.State += " changed"
	}
	return c, v.ended()
}

// Between implements [loop.Tree].
func (v *verifier) Between(context.Context, loop.Change, loop.Change) (loop.Change, error) {
	return loop.Change{State: v.now.round.Change.State}, nil
}

// Checkpoint implements [loop.Tree].
func (v *verifier) Checkpoint(_ context.Context, _ loop.Step, c loop.Change) (string, error) {
	return c.Checkpoint, nil
}

// Check implements [loop.Checker].
func (v *verifier) Check(context.Context, loop.Step) iter.Seq2[loop.CheckResult, error] {
	return func(yield func(loop.CheckResult, error) bool) {
		for _, result := range v.now.round.Checks {
			if !yield(result, nil) {
				return
			}
		}
	}
}

// unread is an empty store of lessons: what a run was told is in its log, and the real store
// is left alone.
type unread struct{}

// Recall implements [strategy.Lessons].
func (unread) Recall(context.Context, string, int, bool) (string, error) { return "", errOver }

// Told implements [strategy.Lessons].
func (unread) Told([]string) {}

// Keep implements [strategy.Lessons].
func (unread) Keep(context.Context, string, string, int) (string, error) { return "", errOver }

// Fork implements [loop.Forker]: the log tells what was done in the fork.
func (v *verifier) Fork(context.Context, loop.Step) (loop.Fork, error) { return forked{v}, nil }

// past refuses to do anything: all results are in the journal.
type past struct{}

// Play implements [loop.Player].
func (past) Play(context.Context, loop.Call, loop.Watch) (loop.Reply, error) {
	return loop.Reply{}, errOver
}

// Command implements [loop.Commander].
func (past) Command(context.Context, loop.Step, string) (loop.CheckResult, error) {
	return loop.CheckResult{}, errOver
}

// Restore implements [loop.Restorer].
func (past) Restore(context.Context, string) error { return errOver }

// Apply implements [loop.Restorer].
func (past) Apply(context.Context, string, string) error { return errOver }

// forked is a fork in the log.
type forked struct{ v *verifier }

// Workplace implements [loop.Fork].
func (f forked) Workplace() loop.Workplace { return f.v.at }

// Apply implements [loop.Fork].
func (f forked) Apply(context.Context) error { return errOver }

// Discard implements [loop.Fork].
func (f forked) Discard() error { return errOver }

// Judge implements [loop.Critic] with the replies that the critic gave.
func (v *verifier) Judge(context.Context, loop.Case, loop.Watch) (loop.Review, error) {
	ask := v.asks
	if v.asks++; ask >= len(v.now.replies) {
		v.differf("iteration %d: the critic's last reply cannot be used today: it would be asked again", v.now.round.Iteration)
		return loop.Review{}, errOver
	}
	r := v.now.replies[ask]
	v.stale, r.Stale = len(r.Stale) > 0, nil
	return r, nil
}

// reread reads a reply as it is read today. Its text is kept only if it has no verdict. If the
// log has no reply, as the original's, its verdict is used.
func (s *setting) reread(log loop.Review) loop.Review {
	r := log
	r.Stdout.Text, r.Stderr.Text = "", ""
	blank := strings.TrimSpace(r.Reply) == ""
	switch {
	case blank && r.Problem == "":
	case blank || r.Ending != loop.EndCompleted || r.ExitCode != 0:
		r.Verdict, r.Problem = loop.Verdict{}, cmp.Or(r.Problem, "the critic's turn failed")
	default:
		verdict.Reread(&r, s.session.Policy)
		if log.Broken == "" { // an older log does not tell
			r.Broken = ""
		}
	}
	if len(log.Written.Changed)+len(log.Written.Settings) == 0 && r.Problem == "" && r.Verdict.Decision == loop.Done && len(log.Written.Added) > 0 {
		r.Problem = log.Problem // new files were held against it once
	}
	r.Written = loop.Written{Changed: log.Written.Changed, Settings: log.Written.Settings}
	if r.Problem == "" {
		r.Reply = ""
	}
	return r
}

// member parses the reply of a panel's member as it is parsed today.
func (v *verifier) member(at loop.Stamp, e loop.Event) loop.Event {
	turn, ok := e.(loop.TurnFinished)
	if !ok || turn.Review == nil {
		return e
	}
	log := *turn.Review
	log.Turn, log.Reply = turn.Reply.Turn, turn.Reply.Text
	today := v.run.reread(log)
	today.Stale, today.Written = nil, log.Written
	if then, now := said(log), said(today); then != now {
		v.differf("%s: %s in the log, %s today", at.Step, then, now)
	} else if then, now := log.Verdict.Guidance(), today.Verdict.Guidance(); today.Problem == "" && then != now {
		v.differf("what %s said: %s in the log, %s today", at.Step, short(then), short(now))
	}
	turn.Review = &today
	return turn
}

// Judge implements [loop.Critic] for the members of a panel.
func (past) Judge(context.Context, loop.Case, loop.Watch) (loop.Review, error) {
	return loop.Review{}, errOver
}

// Handle implements [loop.Sink].
func (v *verifier) Handle(_ loop.Stamp, e loop.Event) error {
	if phase, ok := e.(loop.PhaseEntered); ok { // the first event of an iteration, in whichever phase a run resumes it
		if phase.Iteration != v.current {
			v.begin(phase.Iteration)
		}
		v.phases = append(v.phases, phase.State)
		if phase.State == loop.CriticEvaluating && v.run.session.Policy.Panel != nil {
			v.stale = len(v.now.round.Review.Stale) > 0
		}
	}
	if _, ok := e.(loop.ReviewRejected); ok {
		v.rejected++
	}
	if whole, ok := e.(loop.IterationFinished); ok {
		v.report.Iterations++
		v.played++
		v.compare(whole.Round)
	}
	return nil
}

// noted reports a result of a strategy that is not the recorded one: a score, a decision, a
// plan, a handoff, the applied candidate. Redacted texts cannot be compared.
func (v *verifier) noted(step loop.Step, then, now string) {
	if !strings.Contains(then+now, redact.Mark) {
		v.differf("%s: %s in the log, %s today", step, short(then), short(now))
	}
}

func (v *verifier) differf(format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.report.Differences = append(v.report.Differences, fmt.Sprintf(format, args...))
}

// gate is today's, with the policy that the run had.
type gate struct {
	policy.Gate
	v *verifier
}

// Inspect implements [loop.Gate] with what the rules found then: the log does not hold the
// work that they looked at.
func (g *gate) Inspect(loop.Case) (loop.Inspection, *loop.Ruling) {
	round := g.v.now.round
	// Otherwise no rule decided: the verdict follows from the checks, or from the actor's words.
	if !round.Unjudged || round.Rule == "" || slices.Contains(g.v.now.phases, loop.Verifying) {
		return round.Inspection, nil
	}
	return round.Inspection, &round.Ruling
}

// Ends implements [loop.Gate].
func (g *gate) Ends(c loop.Case, r loop.Review) (done bool, unmentioned []string) {
	return policy.Gate{Rulers: policy.Rulers(g.v.run.session.Policy)}.Ends(c, r)
}

// Rule implements [loop.Gate].
func (g *gate) Rule(c loop.Case, r loop.Review) loop.Ruling {
	g.Rulers = policy.Rulers(g.v.run.session.Policy)
	for i, ruler := range g.Rulers {
		g.Rulers[i] = quoting{ruler, g.v.now.round.Verdict}
	}
	return g.Gate.Rule(c, r)
}

// quoting is a rule that decides as today, but in the words of the log: the actor went on with
// those, and the rest of the run must not depend on others.
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
