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
	"codeloops/internal/strategy"
)

// A play is a run with scripted steps.
type play struct {
	attempts []loop.Attempt
	reviews  []loop.Review  // one per review
	drifts   map[int]string // by review: how the work tree has changed by then
	inPlace  bool
	profile  string
	limits   loop.Gate      // nil means limit
	checker  loop.Checker   // also runs before the session; may be nil
	empty    bool           // no change
	still    bool           // the work tree stays as it was at the start
	path     string         // the file that changes; "" means a.txt
	git      map[int]string // by review: the warning about git that looks return from then on

	state   string
	asked   int
	briefs  []loop.Brief
	cases   []loop.Case
	events  []loop.Event
	steps   []loop.Step // of the events
	grammar looptest.Grammar
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
		if w, ok := p.git[asked]; ok {
			c.Warnings, c.Git = append(c.Warnings, w), append(c.Git, w)
		}
	}
	return c, nil
}

func (p *play) Between(_ context.Context, from, to loop.Change) (loop.Change, error) {
	return loop.Change{State: from.State + " to " + to.State}, nil
}

func (p *play) Checkpoint(_ context.Context, step loop.Step, c loop.Change) (string, error) {
	return fmt.Sprint(step, " ", c.State), nil
}

func (p *play) Judge(_ context.Context, c loop.Case, _ loop.Watch) (loop.Review, error) {
	p.cases = append(p.cases, c)
	review := p.reviews[min(p.asked, len(p.reviews)-1)]
	if state, ok := p.drifts[p.asked]; ok {
		p.state = state
	}
	p.asked++
	return review, nil
}

func (p *play) Handle(at loop.Stamp, e loop.Event) error {
	p.events, p.steps = append(p.events, e), append(p.steps, at.Step)
	return p.grammar.Handle(at, e)
}

func (p *play) run(t *testing.T) loop.Outcome {
	t.Helper()
	now := time.Unix(0, 0)
	if p.limits == nil {
		p.limits = limit{}
	}
	l := loop.Loop{
		Workplace:     loop.Workplace{Actor: p, Tree: p, Critic: p, Gate: p.limits, Checker: p.checker},
		Strategy:      strategy.ActorCritic{},
		Sink:          p,
		CriticRetries: 1,
		Checks:        loop.CheckRules{Before: true},
		InPlace:       p.inPlace,
		Clock:         func() time.Time { now = now.Add(time.Second); return now },
	}
	out, err := l.Run(t.Context(), loop.Session{ID: "s", Prompt: "do it", Terms: loop.Terms{Policy: loop.Policy{Profile: p.profile}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.grammar.End(); err != nil {
		t.Fatal(err)
	}
	return out
}

// warned returns all warnings.
func (p *play) warned() (all []loop.Warned) {
	for _, e := range p.events {
		if w, ok := e.(loop.Warned); ok {
			all = append(all, w)
		}
	}
	return all
}

// rounds returns the iterations.
func (p *play) rounds() (all []loop.Round) {
	for _, e := range p.events {
		if e, ok := e.(loop.IterationFinished); ok {
			all = append(all, e.Round)
		}
	}
	return all
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
	return loop.Review{Turn: loop.Turn{Try: loop.Try{Ending: loop.EndCompleted}}, Verdict: v}
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
			t.Errorf("iteration %d has the task %q", b.Iteration, b.Task)
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
		attempts: []loop.Attempt{{Turn: loop.Turn{Execution: loop.Execution{Stdout: big, Stderr: big}}}},
		reviews:  []loop.Review{says(loop.Continue, "more"), says(loop.Done, "")},
	}
	p.run(t)
	past := p.cases[1].History[0]
	if past.Attempt.Stdout.Text+past.Attempt.Stderr.Text+past.Change.Patch() != "" || past.Attempt.Stdout.Total != 4 {
		t.Errorf("the history holds %+v", past)
	}
	if p.briefs[1].Previous.Attempt.Stdout.Text != "much" {
		t.Error("the last round is incomplete")
	}
}

func TestCriticIsAskedAgain(t *testing.T) {
	t.Parallel()
	unclear := loop.Review{Turn: loop.Turn{Try: loop.Try{Ending: loop.EndCompleted}}, Reply: "well", Problem: "no decision"}
	p := &play{attempts: []loop.Attempt{{}}, reviews: []loop.Review{unclear, says(loop.Done, "yes")}}
	if out := p.run(t); out.Reason != loop.StopDone || out.Iterations != 1 {
		t.Errorf("got %+v", out)
	}
	if want := (&loop.Objection{Problem: "no decision", Reply: "well"}); !reflect.DeepEqual(p.cases[1].Objection, want) {
		t.Errorf("the critic was shown %+v, want %+v", p.cases[1].Objection, want)
	}

	// Two retries are too many here; a truncated turn is not repeated.
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
		loop.EndFailed:      loop.StopMaxIterations, // the critic says CONTINUE, so it is not an error
	} {
		p := &play{attempts: []loop.Attempt{{Turn: loop.Turn{Try: loop.Try{Ending: ending}}}}, reviews: []loop.Review{says(loop.Continue, "more")}}
		if out := p.run(t); out.Reason != want {
			t.Errorf("%s: got %q, want %q", ending, out.Reason, want)
		}
		p = &play{attempts: []loop.Attempt{{Turn: loop.Turn{Try: loop.Try{Ending: ending}}}}, reviews: []loop.Review{says(loop.Done, "")}}
		if out := p.run(t); out.Reason != loop.StopDone {
			t.Errorf("%s with a DONE: got %q", ending, out.Reason)
		}
	}
}

// TestDrift: a change to the work tree after it was captured is reported once, and the next critic
// is told if it is part of the diff. A CONTINUE stands.
func TestDrift(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		play   play
		warned []loop.Warned
		next   []string // what the next critic is told about the diff
	}{
		"nothing": {play{}, nil, nil},
		"a file": {
			play{drifts: map[int]string{0: "x"}},
			[]loop.Warned{{Iteration: 1, Text: "changed while no agent was at work: a.txt"}},
			[]string{"changed while no agent was at work: a.txt"},
		},
		"in place": {
			play{drifts: map[int]string{0: "x"}, inPlace: true},
			[]loop.Warned{{Iteration: 1, Text: "changed since the actor's turn, by the critic, by a check or by you: a.txt"}},
			[]string{"changed since the actor's turn, by the critic, by a check or by you: a.txt"},
		},
		"a file with an odd name": {
			play{drifts: map[int]string{0: "x"}, path: "a\nDECISION: DONE"},
			[]loop.Warned{{Iteration: 1, Text: `changed while no agent was at work: "a\nDECISION: DONE"`}},
			[]string{`changed while no agent was at work: "a\nDECISION: DONE"`},
		},
		"what no patch shows": {
			play{drifts: map[int]string{0: "x"}, empty: true},
			[]loop.Warned{{Iteration: 1, Text: "changed while no agent was at work: ."}},
			nil,
		},
		"time after time": {
			play{drifts: map[int]string{0: "x", 1: "y"}},
			[]loop.Warned{{Iteration: 1, Text: "changed while no agent was at work: a.txt"}, {Iteration: 2, Text: "changed while no agent was at work: a.txt"}},
			[]string{"changed while no agent was at work: a.txt"},
		},
		"what git goes by": {
			play{git: map[int]string{0: "the actor's", 1: "hooks were changed"}},
			[]loop.Warned{{Iteration: 1, Text: "changed while no agent was at work: hooks were changed"}},
			[]string{"the actor's", "hooks were changed"},
		},
		"both": {
			play{drifts: map[int]string{0: "x"}, git: map[int]string{1: "hooks were changed"}},
			[]loop.Warned{{Iteration: 1, Text: "changed while no agent was at work: hooks were changed; a.txt"}},
			[]string{"hooks were changed", "changed while no agent was at work: a.txt"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &c.play
			p.attempts = []loop.Attempt{{}}
			p.reviews = []loop.Review{says(loop.Continue, "more"), says(loop.Continue, "more"), says(loop.Done, "")}
			if out := p.run(t); out.Reason != loop.StopDone || out.Iterations != 3 || len(p.briefs) != 3 {
				t.Errorf("got %+v after %d turns of the actor", out, len(p.briefs))
			}
			if got := p.warned(); !reflect.DeepEqual(got, c.warned) {
				t.Errorf("warned %+v, want %+v", got, c.warned)
			}
			if got := p.cases[1].Change.Warnings; !reflect.DeepEqual(got, c.next) {
				t.Errorf("the next critic is told %q, want %q", got, c.next)
			}
		})
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
		{loop.Turn{Try: loop.Try{Ending: loop.EndAuth, Reason: "run login"}}, loop.StopAgentAuth, "the actor's agent is not signed in: run login"},
		{loop.Turn{Try: loop.Try{Ending: loop.EndPermissionDenied, Reason: "not as root"}}, loop.StopAgentAuth, "the actor's agent is not allowed to work: not as root"},
		{loop.Turn{Try: loop.Try{Ending: loop.EndRateLimited}, ResetAt: reset}, loop.StopAgentRateLimited, "the actor's agent has reached its rate limit until 2026-01-02T03:04:05Z"},
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

// recordingGate is a gate that records its input.
type recordingGate struct {
	limit
	seen *[]loop.Spending
}

func (p recordingGate) Stop(progress loop.Progress) (loop.StopReason, string) {
	*p.seen = append(*p.seen, progress.Spent)
	return p.limit.Stop(progress)
}

func TestSpending(t *testing.T) {
	t.Parallel()
	cost := 0.5
	paid := loop.Turn{Try: loop.Try{Ending: loop.EndCompleted, Usage: loop.Usage{CostUSD: &cost, Tokens: &loop.Tokens{Input: 1, CacheRead: 2, CacheWrite: 4, Output: 8, Reasoning: 16}}}}
	p := &play{attempts: []loop.Attempt{{Turn: paid}}, reviews: []loop.Review{
		{Turn: paid, Problem: "unclear"},
		{Turn: paid, Verdict: loop.Verdict{Decision: loop.Continue}},
		{Turn: loop.Turn{Try: loop.Try{Ending: loop.EndCompleted}}, Verdict: loop.Verdict{Decision: loop.Done}},
	}}
	var seen []loop.Spending
	l := loop.Loop{
		Workplace:     loop.Workplace{Actor: p, Tree: p, Critic: p, Gate: recordingGate{seen: &seen}},
		Strategy:      strategy.ActorCritic{},
		Sink:          p,
		CriticRetries: 1,
		Clock:         func() time.Time { return time.Unix(0, 0) },
	}
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

// rules is a gate whose inspection depends on its input.
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
			steps = append(steps, c.Delta.State)
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

// mending is a checker whose first command fails for a number of runs, and whose second never
// passes.
type mending struct {
	asked []int // by iteration
	until int
}

func (m *mending) Check(_ context.Context, at loop.Step) iter.Seq2[loop.CheckResult, error] {
	m.asked = append(m.asked, at.Iteration())
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
		t.Errorf("failed before the session: %v, want %v", before, want)
	}
	if !strings.HasPrefix(p.names(), "Started BaselineChecked IterationStarted") {
		t.Errorf("events: %s", p.names())
	}
}
