package loop_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"codeloops/internal/loop"
)

// budgetGate is a gate with a budget.
type budgetGate struct {
	limit
	dollars float64
}

func (f budgetGate) Stop(p loop.Progress) (loop.StopReason, string) {
	if spent := p.Spent.Total().CostUSD; f.dollars > 0 && spent >= f.dollars {
		return loop.StopMaxCost, fmt.Sprintf("$%.2f", spent)
	}
	return loop.StopNone, ""
}

// payingPlayer is a player whose turns each cost a dollar and take a second.
type payingPlayer struct {
	began time.Time

	mu      sync.Mutex
	starts  []int // in seconds
	journal loop.Journal
	spent   float64
}

func (c *payingPlayer) Play(context.Context, loop.Call, loop.Watch) (loop.Reply, error) {
	c.mu.Lock()
	c.starts = append(c.starts, int(time.Since(c.began).Seconds()))
	c.mu.Unlock()
	time.Sleep(time.Second)
	return loop.Reply{Turn: loop.Turn{Try: loop.Try{Ending: loop.EndCompleted, Usage: loop.Usage{CostUSD: new(1.0)}}}}, nil
}

func (c *payingPlayer) Handle(at loop.Stamp, e loop.Event) error {
	c.journal.Add(at, e)
	if e, ok := e.(loop.TurnFinished); ok {
		c.spent += *e.Reply.Usage.CostUSD
	}
	return nil
}

// loop runs a strategy with a budget.
func (c *payingPlayer) loop(s loop.Strategy, dollars float64) *loop.Loop {
	c.began, c.starts = time.Now(), nil
	return &loop.Loop{Workplace: loop.Workplace{Player: c, Gate: budgetGate{dollars: dollars}}, Strategy: s, Sink: c, Clock: time.Now}
}

// six plays six turns at the same time.
type six struct{ parts bool }

func (x six) Run(ctx context.Context, steps *loop.Steps) (loop.Outcome, error) {
	var calls []loop.Call
	var names []loop.Step
	for n := range 6 {
		names = append(names, loop.Step(fmt.Sprint("debater_", n)))
		calls = append(calls, loop.Call{Step: names[n].Sub("turn"), Role: "debater"})
	}
	var err error
	if x.parts {
		err = steps.Together(ctx, names, func(ctx context.Context, i int, part *loop.Steps) error {
			_, err := part.Turns(ctx, calls[i])
			return err
		})
	} else {
		_, err = steps.Turns(ctx, calls...)
	}
	return loop.Outcome{Reason: loop.StopDone}, err
}

// TestBudgetAtTheSameTime: parallel turns exceed a budget by no more than one turn does. The first
// turn shows the cost of one, a turn that has begun is finished, and a resumed session knows what
// was shown.
func TestBudgetAtTheSameTime(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		dollars float64
		starts  string
		stop    loop.StopReason
		more    float64 // the budget of the resumed run
		then    string
	}{
		{0, "[0 0 0 0 0 0]", loop.StopDone, 0, ""},
		{10, "[0 1 1 1 1 1]", loop.StopDone, 0, ""},
		{3, "[0 1 1]", loop.StopMaxCost, 20, "[0 0 0]"},
		{2.5, "[0 1 1]", loop.StopMaxCost, 4.5, "[0 0]"},
		{0.5, "[0]", loop.StopMaxCost, 3, "[0 0]"},
		{4.5, "[0 1 1 1 1]", loop.StopMaxCost, 5, ""},
	} {
		for _, s := range []six{{parts: false}, {parts: true}} {
			synctest.Test(t, func(t *testing.T) {
				played := &payingPlayer{}
				out, err := played.loop(s, c.dollars).Run(t.Context(), loop.Session{})
				if err != nil || out.Reason != c.stop || fmt.Sprint(played.starts) != c.starts {
					t.Errorf("$%v, parts %t: %v, %v, turns began at %v", c.dollars, s.parts, out.Reason, err, played.starts)
				}
				if spent := played.spent; c.dollars > 0 && spent > c.dollars+1 {
					t.Errorf("$%v, parts %t: spent $%v", c.dollars, s.parts, spent)
				}
				if c.stop == loop.StopDone {
					return
				}
				journal := played.journal.Clone()
				if _, err := played.loop(s, c.more).Resume(t.Context(), loop.Session{}, journal); err != nil || c.then != "" && fmt.Sprint(played.starts) != c.then {
					t.Errorf("$%v, parts %t: resumed with $%v: %v, turns began at %v", c.dollars, s.parts, c.more, err, played.starts)
				}
			})
		}
	}
}
