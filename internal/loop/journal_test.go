package loop_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/strategy"
)

// TestEventsBearTheirSteps: each event has the step that it belongs to, and each turn runs under
// its own step.
func TestEventsBearTheirSteps(t *testing.T) {
	t.Parallel()
	p := &play{
		attempts: []loop.Attempt{{}}, checker: &mending{until: 1},
		reviews: []loop.Review{{Problem: "no decision"}, says(loop.Continue, "more"), says(loop.Done, "fine")},
	}
	p.run(t)
	var got []string
	for i, e := range p.events {
		got = append(got, strings.TrimPrefix(fmt.Sprintf("%T", e), "loop.")+" "+string(p.steps[i]))
	}
	want := []string{
		"Started ", "BaselineChecked baseline",
		"IterationStarted 1", "PhaseEntered 1.actor", "ActorFinished 1.actor", "PhaseEntered 1.capture", "DiffCaptured 1.capture",
		"PhaseEntered 1.checks", "ChecksFinished 1.checks",
		"PhaseEntered 1.critic", "ReviewRejected 1.critic", "CriticFinished 1.critic.2", "IterationFinished 1",
		"IterationStarted 2", "PhaseEntered 2.actor", "ActorFinished 2.actor", "PhaseEntered 2.capture", "DiffCaptured 2.capture",
		"PhaseEntered 2.checks", "ChecksFinished 2.checks",
		"PhaseEntered 2.critic", "CriticFinished 2.critic", "IterationFinished 2", "Finished ",
	}
	if a, b := strings.Join(got, "\n"), strings.Join(want, "\n"); a != b {
		t.Errorf("got\n%s\nwant\n%s", a, b)
	}
	if p.briefs[1].Step != "2.actor" || p.cases[1].Step != "1.critic.2" {
		t.Errorf("the actor is asked in %q, the critic in %q", p.briefs[1].Step, p.cases[1].Step)
	}
}

// hasty is a strategy that ends after one iteration, whatever the verdict.
type hasty struct{}

func (hasty) Run(ctx context.Context, steps *loop.Steps) (loop.Outcome, error) {
	_, err := steps.Iterate(ctx, func(ctx context.Context, it *loop.Iteration) error {
		return errors.Join(it.Act(ctx), it.Capture(ctx), it.Judge(ctx))
	})
	return loop.Outcome{Reason: loop.StopMaxIterations}, err
}

// TestJournalThatDoesNotFit: a journal of another strategy is refused with an error that names the
// step, before any agent runs.
func TestJournalThatDoesNotFit(t *testing.T) {
	t.Parallel()
	round := func(n int) loop.Event {
		return loop.IterationFinished{Round: loop.Round{Iteration: n, Ruling: loop.Ruling{Verdict: loop.Verdict{Decision: loop.Continue}}}}
	}
	for name, c := range map[string]struct {
		strategy loop.Strategy
		events   []loop.Event
		want     loop.JournalError
	}{
		"it goes on behind the end": {hasty{}, []loop.Event{round(1), round(2)}, loop.JournalError{Found: "2"}},
		"an iteration is missing":   {strategy.ActorCritic{}, []loop.Event{round(1), round(3)}, loop.JournalError{Found: "3", Made: "2"}},
		"a turn without its rounds": {strategy.ActorCritic{}, []loop.Event{loop.ActorFinished{Iteration: 2}}, loop.JournalError{Found: "2.actor", Made: "1"}},
	} {
		p := &play{attempts: []loop.Attempt{{}}, reviews: []loop.Review{says(loop.Done, "")}}
		l := loop.Loop{
			Workplace: loop.Workplace{Actor: p, Tree: p, Critic: p, Gate: limit{}},
			Strategy:  c.strategy,
			Sink:      p,
			Clock:     func() time.Time { return time.Unix(0, 0) },
		}
		j := &loop.Journal{}
		for _, e := range append([]loop.Event{loop.Started{}}, c.events...) {
			j.Add(loop.Stamp{}, e)
		}
		_, err := l.Resume(t.Context(), loop.Session{}, j)
		unfit, ok := errors.AsType[*loop.JournalError](err)
		if !ok || *unfit != c.want || len(p.briefs)+len(p.cases) > 0 {
			t.Errorf("%s: %v after %d turns", name, err, len(p.briefs)+len(p.cases))
		}
		if unfit != nil && (unfit.Hint() == "" || !strings.Contains(unfit.Error(), string(c.want.Found))) {
			t.Errorf("%s: %v", name, unfit)
		}
	}
}

// planned is a strategy that begins with a turn of its own.
type planned struct{}

func (planned) Run(ctx context.Context, steps *loop.Steps) (loop.Outcome, error) {
	if _, err := steps.Turns(ctx, loop.Call{Step: "planner", Role: "planner"}); err != nil {
		return loop.Outcome{}, err
	}
	return strategy.ActorCritic{}.Run(ctx, steps)
}

// TestBaselineOfAnOlderLog: strategies used to ask for the checks before the session, some of them
// after turns of their own.
func TestBaselineOfAnOlderLog(t *testing.T) {
	t.Parallel()
	p := &play{attempts: []loop.Attempt{{}}, reviews: []loop.Review{says(loop.Done, "")}}
	l := loop.Loop{
		Workplace: loop.Workplace{Actor: p, Tree: p, Critic: p, Gate: limit{}},
		Strategy:  planned{},
		Sink:      p,
		Clock:     func() time.Time { return time.Unix(0, 0) },
	}
	j := &loop.Journal{}
	j.Add(loop.Stamp{}, loop.Started{})
	j.Add(loop.Stamp{Step: "planner"}, loop.TurnFinished{Role: "planner"})
	j.Add(loop.Stamp{Step: "baseline"}, loop.BaselineChecked{Checks: []loop.CheckResult{{Command: "make test"}}})
	if out, err := l.Resume(t.Context(), loop.Session{}, j); err != nil || out.Reason != loop.StopDone {
		t.Fatalf("%+v, %v", out, err)
	}
	if got := p.briefs[0].Baseline; len(got) != 1 || got[0].Command != "make test" {
		t.Errorf("the actor was told %+v", got)
	}
}
