package loop_test

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"reflect"
	"strings"
	"testing"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/loop/looptest"
)

// A play is a run in which every step is written down beforehand.
type play struct {
	attempts []loop.Attempt
	reviews  []loop.Review  // one for each time the critic is asked
	meddles  map[int]string // by ask: the state that the critic leaves behind
	limits   loop.Gate      // nil: limit
	checker  loop.Checker   // asked before the session, too; may be nil
	empty    bool           // nothing changes
	still    bool           // the work tree stays as the session found it
	path     string         // of the file that changes; "" is a.txt
	warns    map[int]string // by how often the critic was asked: what a look then warns of

	state    string
	asked    int
	briefs   []loop.Brief
	cases    []loop.Case
	restored []string
	events   []loop.Event
	grammar  looptest.Grammar
}

func (p *play) Act(_ context.Context, b loop.Brief, _ loop.Watch) (loop.Attempt, error) {
	p.briefs = append(p.briefs, b)
	if !p.still {
		p.state = fmt.Sprintf("after actor %d", b.Iteration)
	}
	return p.attempts[min(b.Iteration, len(p.attempts))-1], nil
}

func (p *play) Capture(context.Context) (loop.Change, error) {
	c := loop.Change{State: p.state, Files: []loop.FileChange{{Path: cmp.Or(p.path, "a.txt"), Patch: p.state}}}
	if p.empty {
		c.Files = nil
	}
	for asked := range p.asked + 1 {
		if w, ok := p.warns[asked]; ok {
			c.Warnings = append(c.Warnings, w)
		}
	}
	return c, nil
}

func (p *play) Between(_ context.Context, from, to loop.Change) (loop.Change, error) {
	return loop.Change{State: from.State + " to " + to.State}, nil
}

func (p *play) Checkpoint(_ context.Context, iteration int, c loop.Change) (string, error) {
	return fmt.Sprint(iteration, " ", c.State), nil
}

func (p *play) Restore(_ context.Context, to loop.Change) (string, error) {
	p.restored = append(p.restored, p.state+" to "+to.State)
	p.state = to.State
	return "kept in x.patch", nil
}

func (p *play) Judge(_ context.Context, c loop.Case, _ loop.Watch) (loop.Review, error) {
	p.cases = append(p.cases, c)
	review := p.reviews[min(p.asked, len(p.reviews)-1)]
	if state, ok := p.meddles[p.asked]; ok {
		p.state = state
	}
	p.asked++
	return review, nil
}

func (p *play) Handle(at loop.Stamp, e loop.Event) error {
	p.events = append(p.events, e)
	return p.grammar.Handle(at, e)
}

func (p *play) run(t *testing.T) loop.Outcome {
	t.Helper()
	now := time.Unix(0, 0)
	if p.limits == nil {
		p.limits = limit{}
	}
	l := loop.Loop{
		Actor: p, Tree: p, Critic: p, Gate: p.limits, Sink: p, CriticRetries: 1, Checker: p.checker, CheckBefore: true,
		Clock: func() time.Time { now = now.Add(time.Second); return now },
	}
	out, err := l.Run(t.Context(), loop.Session{ID: "s", Prompt: "do it"})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.grammar.End(); err != nil {
		t.Fatal(err)
	}
	return out
}

func (p *play) names() string {
	var names []string
	for _, e := range p.events {
		names = append(names, strings.TrimPrefix(fmt.Sprintf("%T", e), "loop."))
	}
	return strings.Join(names, " ")
}

func says(d loop.Decision, text string) loop.Review {
	v := loop.Verdict{Decision: d, Summary: text, Feedback: text, Recovery: text}
	return loop.Review{Turn: loop.Turn{Ending: loop.EndCompleted}, Verdict: v}
}

func TestFeedbackReachesTheActor(t *testing.T) {
	t.Parallel()
	p := &play{
		attempts: []loop.Attempt{{}},
		reviews:  []loop.Review{says(loop.Continue, "more"), says(loop.Error, "another way"), says(loop.Done, "fine")},
	}
	out := p.run(t)
	if want := (loop.Outcome{Result: loop.Success, Reason: loop.StopDone, Iterations: 3, Summary: "fine", Duration: out.Duration}); out != want {
		t.Errorf("got %+v, want %+v", out, want)
	}
	var told []string
	for _, b := range p.briefs {
		if b.Task != "do it" {
			t.Errorf("iteration %d was asked %q", b.Iteration, b.Task)
		}
		if b.Previous != nil {
			told = append(told, b.Previous.Verdict.Guidance())
		}
	}
	if want := []string{"more", "another way"}; !reflect.DeepEqual(told, want) {
		t.Errorf("the actor was told %q, want %q", told, want)
	}
	if n := len(p.cases[2].History); n != 2 {
		t.Errorf("the third case has a history of %d", n)
	}
	if got, want := p.names(), "Started"+strings.Repeat(
		" IterationStarted PhaseEntered ActorFinished PhaseEntered DiffCaptured PhaseEntered CriticFinished IterationFinished", 3)+
		" Finished"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestHistoryHoldsNoTexts(t *testing.T) {
	t.Parallel()
	big := loop.Output{Text: "much", Total: 4}
	p := &play{
		attempts: []loop.Attempt{{Turn: loop.Turn{Stdout: big, Stderr: big}}},
		reviews:  []loop.Review{says(loop.Continue, "more"), says(loop.Done, "")},
	}
	p.run(t)
	past := p.cases[1].History[0]
	if past.Attempt.Stdout.Text+past.Attempt.Stderr.Text+past.Change.Patch() != "" || past.Attempt.Stdout.Total != 4 {
		t.Errorf("the history holds %+v", past)
	}
	if p.briefs[1].Previous.Attempt.Stdout.Text != "much" {
		t.Error("the last round is not whole")
	}
}

func TestCriticIsAskedAgain(t *testing.T) {
	t.Parallel()
	unclear := loop.Review{Turn: loop.Turn{Ending: loop.EndCompleted}, Reply: "well", Problem: "no decision"}
	p := &play{attempts: []loop.Attempt{{}}, reviews: []loop.Review{unclear, says(loop.Done, "yes")}}
	if out := p.run(t); out.Reason != loop.StopDone || out.Iterations != 1 {
		t.Errorf("got %+v", out)
	}
	if want := (&loop.Objection{Problem: "no decision", Reply: "well"}); !reflect.DeepEqual(p.cases[1].Objection, want) {
		t.Errorf("the critic was shown %+v, want %+v", p.cases[1].Objection, want)
	}

	// Two retries are one too many here; a turn that was cut is not repeated.
	p = &play{attempts: []loop.Attempt{{}}, reviews: []loop.Review{unclear}}
	if out := p.run(t); out.Reason != loop.StopNoDecision || p.asked != 2*3 {
		t.Errorf("%q after asking %d times", out.Reason, p.asked)
	}
	cut := unclear
	cut.Ending = loop.EndTimedOut
	p = &play{attempts: []loop.Attempt{{}}, reviews: []loop.Review{cut}}
	if out := p.run(t); out.Reason != loop.StopCriticTimeout || p.asked != 3 {
		t.Errorf("%q after asking %d times", out.Reason, p.asked)
	}
}

func TestCutActorTurns(t *testing.T) {
	t.Parallel()
	for ending, want := range map[loop.Ending]loop.StopReason{
		loop.EndTimedOut:    loop.StopActorTimeout,
		loop.EndIdle:        loop.StopActorTimeout,
		loop.EndOutputLimit: loop.StopOutputLimit,
		loop.EndFailed:      loop.StopMaxIterations, // the critic says CONTINUE: no error
	} {
		p := &play{attempts: []loop.Attempt{{Turn: loop.Turn{Ending: ending}}}, reviews: []loop.Review{says(loop.Continue, "more")}}
		if out := p.run(t); out.Reason != want {
			t.Errorf("%s: got %q, want %q", ending, out.Reason, want)
		}
		p = &play{attempts: []loop.Attempt{{Turn: loop.Turn{Ending: ending}}}, reviews: []loop.Review{says(loop.Done, "")}}
		if out := p.run(t); out.Reason != loop.StopDone {
			t.Errorf("%s, but done: got %q", ending, out.Reason)
		}
	}
}

func TestMeddlingIsUndone(t *testing.T) {
	t.Parallel()
	p := &play{
		attempts: []loop.Attempt{{}},
		reviews:  []loop.Review{says(loop.Continue, "more"), says(loop.Done, "")},
		meddles:  map[int]string{1: "meddled"},
	}
	p.run(t)
	if want := []string{"meddled to after actor 2"}; !reflect.DeepEqual(p.restored, want) {
		t.Errorf("restored %q, want %q", p.restored, want)
	}
	var warnings []string
	for _, e := range p.events {
		if w, ok := e.(loop.Warned); ok {
			warnings = append(warnings, w.Text)
		}
	}
	if want := []string{"the critic changed the work tree (a.txt): undone, kept in x.patch"}; !reflect.DeepEqual(warnings, want) {
		t.Errorf("warned %q, want %q", warnings, want)
	}
}

// TestWarningsAfterATurn: what comes to be warned of while the critic is at work
// is told once, and what the actor left is not told again.
func TestWarningsAfterATurn(t *testing.T) {
	t.Parallel()
	p := &play{
		attempts: []loop.Attempt{{}},
		reviews:  []loop.Review{says(loop.Continue, "more"), says(loop.Done, "")},
		warns:    map[int]string{0: "the actor's", 1: "HEAD was moved"},
	}
	p.run(t)
	var warned []loop.Warned
	for _, e := range p.events {
		if w, ok := e.(loop.Warned); ok {
			warned = append(warned, w)
		}
	}
	if want := []loop.Warned{{Iteration: 1, Text: "after the turn of the critic: HEAD was moved"}}; !reflect.DeepEqual(warned, want) {
		t.Errorf("warned %+v, want %+v", warned, want)
	}
}

func TestBlockedAgentsEndTheRun(t *testing.T) {
	t.Parallel()
	reset := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range []struct {
		turn    loop.Turn
		reason  loop.StopReason
		summary string
	}{
		{loop.Turn{Ending: loop.EndAuth, Reason: "run login"}, loop.StopAgentAuth, "the actor's agent is not signed in: run login"},
		{loop.Turn{Ending: loop.EndPermissionDenied, Reason: "not as root"}, loop.StopAgentAuth, "the actor's agent is not allowed to work: not as root"},
		{loop.Turn{Ending: loop.EndRateLimited, ResetAt: reset}, loop.StopAgentRateLimited, "the actor's agent has reached its rate limit until 2026-01-02T03:04:05Z"},
	} {
		p := &play{attempts: []loop.Attempt{{Turn: c.turn}}, reviews: []loop.Review{says(loop.Done, "")}}
		if out := p.run(t); out.Result != loop.Failed || out.Reason != c.reason || out.Summary != c.summary || p.asked != 0 {
			t.Errorf("got %+v after asking the critic %d times", out, p.asked)
		}
		review := loop.Review{Turn: c.turn, Problem: "no verdict"}
		p = &play{attempts: []loop.Attempt{{}}, reviews: []loop.Review{review}}
		if out := p.run(t); out.Reason != c.reason || p.asked != 1 {
			t.Errorf("critic: got %+v after asking %d times", out, p.asked)
		}
	}
}

// purse is a gate that keeps what it was shown.
type purse struct {
	limit
	seen *[]loop.Spending
}

func (p purse) Stop(progress loop.Progress) (loop.StopReason, string) {
	*p.seen = append(*p.seen, progress.Spent)
	return p.limit.Stop(progress)
}

func TestSpending(t *testing.T) {
	t.Parallel()
	cost := 0.5
	paid := loop.Turn{Ending: loop.EndCompleted, Usage: loop.Usage{CostUSD: &cost, Tokens: &loop.Tokens{Input: 1, CacheRead: 2, CacheWrite: 4, Output: 8, Reasoning: 16}}}
	p := &play{attempts: []loop.Attempt{{Turn: paid}}, reviews: []loop.Review{
		{Turn: paid, Problem: "unclear"},
		{Turn: paid, Verdict: loop.Verdict{Decision: loop.Continue}},
		{Turn: loop.Turn{Ending: loop.EndCompleted}, Verdict: loop.Verdict{Decision: loop.Done}},
	}}
	var seen []loop.Spending
	l := loop.Loop{Actor: p, Tree: p, Critic: p, Gate: purse{seen: &seen}, Sink: p, CriticRetries: 1, Clock: func() time.Time { return time.Unix(0, 0) }}
	if _, err := l.Run(t.Context(), loop.Session{}); err != nil {
		t.Fatal(err)
	}
	spent := func(turns int, basis loop.Basis) loop.Spent {
		return loop.Spent{Tokens: int64(turns) * 15, CostUSD: float64(turns) * 0.5, TokensBasis: basis, CostBasis: basis}
	}
	want := []loop.Spending{
		{},
		{Actor: spent(1, loop.Reported)},
		{Actor: spent(1, loop.Reported), Critic: spent(2, loop.Reported)},
		{Actor: spent(2, loop.Reported), Critic: spent(2, loop.Reported)},
	}
	if !reflect.DeepEqual(seen, want) {
		t.Errorf("the gate saw %+v, want %+v", seen, want)
	}
}

// rules is a gate that inspects by what it is told.
type rules struct {
	limit
	inspect func(loop.Case) (loop.Inspection, *loop.Ruling)
}

func (r rules) Inspect(c loop.Case) (loop.Inspection, *loop.Ruling) { return r.inspect(c) }

func TestRulesRuleWithoutACritic(t *testing.T) {
	t.Parallel()
	again := loop.Ruling{Rule: "max_files", Verdict: loop.Verdict{Decision: loop.Continue, Feedback: "fewer files"}, Warnings: []string{"last time"}}
	over := loop.Ruling{Rule: "deny_paths", Verdict: loop.Verdict{Decision: loop.Error}, Stop: loop.Violation("deny_paths"), Why: "a.txt was changed"}
	var steps []string
	p := &play{
		attempts: []loop.Attempt{{}},
		reviews:  []loop.Review{says(loop.Continue, "more")},
		limits: rules{inspect: func(c loop.Case) (loop.Inspection, *loop.Ruling) {
			steps = append(steps, c.Step.State)
			i := loop.Inspection{Audit: loop.Audit{After: c.Change.State}}
			switch c.Iteration {
			case 1:
				i.Concerns = []loop.Concern{{Rule: "tamper", Text: "a test is gone"}}
				return i, nil
			case 2:
				return i, &again
			}
			return i, &over
		}},
	}
	out := p.run(t)
	if want := (loop.Outcome{Result: loop.Failed, Reason: "policy_violation:deny_paths", Iterations: 3, Summary: "a.txt was changed", Duration: out.Duration}); out != want {
		t.Errorf("got %+v, want %+v", out, want)
	}
	if p.asked != 1 || len(p.cases[0].Inspection.Concerns) != 1 {
		t.Errorf("the critic was asked %d times, with %+v", p.asked, p.cases[0].Inspection)
	}
	if want := []string{"after actor 1", "after actor 1 to after actor 2", "after actor 2 to after actor 3"}; !reflect.DeepEqual(steps, want) {
		t.Errorf("the steps were %q, want %q", steps, want)
	}
	last := p.briefs[2].Previous
	if !last.Unjudged || last.Verdict.Guidance() != "fewer files" || !reflect.DeepEqual(last.Warnings, again.Warnings) {
		t.Errorf("the actor was told %+v", last)
	}
	const round = " IterationStarted PhaseEntered ActorFinished PhaseEntered DiffCaptured"
	want := "Started" + round + " Inspected PhaseEntered CriticFinished IterationFinished" +
		round + " IterationFinished" + round + " IterationFinished Finished"
	if got := p.names(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestTurnsHaveNamesAndPhasesTimes(t *testing.T) {
	t.Parallel()
	p := &play{
		attempts: []loop.Attempt{{}},
		reviews:  []loop.Review{{Problem: "no decision"}, says(loop.Done, "fine")},
	}
	p.run(t)
	if got, want := []string{p.briefs[0].ID, p.cases[0].ID, p.cases[1].ID}, []string{"s__actor_1", "s__critic_1", "s__critic_1_2"}; !reflect.DeepEqual(got, want) {
		t.Errorf("the turns are named %q, want %q", got, want)
	}
	round := p.events[len(p.events)-2].(loop.IterationFinished).Round
	if round.Attempt.ID != "s__actor_1" || round.Review.ID != "s__critic_1_2" {
		t.Errorf("recorded as %q and %q", round.Attempt.ID, round.Review.ID)
	}
	var took time.Duration
	var turns []int
	for _, phase := range round.Trace {
		took += phase.Duration
		turns = append(turns, phase.Turns)
		if phase.Duration <= 0 {
			t.Errorf("%v took %v", phase.State, phase.Duration)
		}
	}
	if want := []int{1, 0, 2}; !reflect.DeepEqual(turns, want) || took >= round.Duration {
		t.Errorf("turns %v in %v of %v, want %v", turns, took, round.Duration, want)
	}
}

// mending is a checker whose first command fails until it was asked often
// enough, and whose second never passes.
type mending struct {
	asked []int // by iteration
	until int
}

func (m *mending) Check(_ context.Context, iteration int) iter.Seq2[loop.CheckResult, error] {
	m.asked = append(m.asked, iteration)
	first := loop.CheckResult{Command: "first", Ending: loop.EndFailed}
	if len(m.asked) > m.until {
		first.Ending = loop.EndCompleted
	}
	return func(yield func(loop.CheckResult, error) bool) {
		_ = yield(first, nil) && yield(loop.CheckResult{Command: "second", Ending: loop.EndCompleted}, nil)
	}
}

func TestChecksBeforeTheSession(t *testing.T) {
	t.Parallel()
	m := &mending{until: 2}
	p := &play{
		state: "base", checker: m,
		attempts: []loop.Attempt{{}},
		reviews:  []loop.Review{says(loop.Continue, "more"), says(loop.Done, "fine")},
	}
	p.run(t)
	if want := []int{0, 1, 2}; !reflect.DeepEqual(m.asked, want) {
		t.Errorf("checked in iterations %v, want %v", m.asked, want)
	}
	if got := p.briefs[0].Baseline; len(got) != 2 || got[0].Passed() {
		t.Errorf("the actor was told %+v", got)
	}
	var before []bool
	for _, c := range p.cases {
		for _, check := range c.Checks {
			before = append(before, check.FailedBefore)
		}
	}
	if want := []bool{true, false, true, false}; !reflect.DeepEqual(before, want) {
		t.Errorf("failed before: %v, want %v", before, want)
	}
	if !strings.HasPrefix(p.names(), "Started BaselineChecked IterationStarted") {
		t.Errorf("events: %s", p.names())
	}
}
