package play

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"syscall"
	"time"

	"codeloops/internal/agent"
	"codeloops/internal/loop"
	"codeloops/internal/queue"
	"codeloops/internal/queue/board"
	"codeloops/internal/run/crew"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// mostWait is how long a task waits for a service before it is given back.
const mostWait = time.Minute

// A budgetGate controls a run's access to its agents: it starts none once the queue's budget is used up, and remembers which
// one has reached a limit.
type budgetGate struct {
	player *Player
	job    *board.Job       // whose record may change meanwhile
	of     queue.Repository // of the job

	mu      sync.Mutex
	over    string    // why the budget stopped a turn
	limited string    // the agent that was last at its limit
	until   time.Time // the end of that, by the hub's clock
}

// around implements [run.Options.Around].
func (t *budgetGate) around(who crew.TurnInfo, next agent.Player) agent.Player {
	return &gatedAgent{budgetGate: t, who: who, next: next}
}

// A gatedAgent is an agent behind a budgetGate.
type gatedAgent struct {
	*budgetGate
	who  crew.TurnInfo
	next agent.Player
}

// leastSpace is the free space below which no turn begins: its work could not be kept.
const leastSpace = 8 << 20

// Run implements [agent.Player]. A turn runs within the budget, if there is one.
func (a *gatedAgent) Run(ctx context.Context, r agent.Request) (agent.Reply, error) {
	if free, known := space(a.player.Home.Dir); known && free < leastSpace {
		return agent.Reply{}, fmt.Errorf("only %s are free in %s: %w", wording.Bytes(int64(free)), a.player.Home.Dir, syscall.ENOSPC)
	}
	budget := a.budget(ctx)
	if err := a.fits(&budget); err != nil {
		return agent.Reply{}, err
	}
	began := a.player.Host.Now()
	reply, err := a.next.Run(ctx, r)
	if err == nil && reply.Ending == loop.EndRateLimited {
		a.meet(reply.ResetAt)
	}
	if !budget.Any() {
		return reply, err
	}
	var spent loop.Spending
	if err == nil {
		spent.Add(r.Role, reply.Turn)
	}
	cost := spent.Total()
	e := a.job.Spend(context.WithoutCancel(ctx), queue.Amount{
		Dollars: cost.CostUSD, Tokens: float64(cost.Tokens), Seconds: a.player.Host.Now().Sub(began).Seconds(),
	})
	return reply, cmp.Or(err, e)
}

// patience is how long a turn waits for the hub to send its budget.
const patience = 5 * time.Second

// budget returns the current budget, or the last known one.
func (t *budgetGate) budget(ctx context.Context) queue.Budget {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	now, err := t.player.Board.Budget(ctx, t.of)
	if err != nil {
		return t.player.Budgets()[t.of.Key()]
	}
	return now
}

// fits returns the error that ends a run whose budget is used up, or whose agent's cost is unknown under a budget in
// dollars.
func (a *gatedAgent) fits(b *queue.Budget) error {
	if b.Limit.Dollars > 0 && !a.who.TellsCost {
		return hint.Errorf("give the prices of its model ("+string(a.who.Role)+".price_input and price_output), or set a budget in tokens: codeloops queue run --budget-cost 0 --budget-tokens N",
			"a budget in dollars cannot be enforced: %s does not say what its turns cost", a.who.Ref.Agent)
	}
	why, reached := b.Over()
	if why == "" {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.over = why
	return loop.Stop(reached, "", "the budget of the queue is used up: "+why)
}

// A limit whose end is unknown, or past, is taken to last for unknownLimit. Clocks may differ by some seconds.
const (
	unknownLimit = 5 * time.Minute
	slack        = 3 * time.Second
)

// meet remembers that the agent has reached a limit, which ends at a time by the clock here; zero is unknown.
func (a *gatedAgent) meet(resets time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	pause := resets.Sub(a.player.Host.Now()) + slack
	if pause <= slack {
		pause = unknownLimit
	}
	a.limited, a.until = a.who.Ref.String(), a.player.Board.Now().Add(pause)
}

// back returns the change of the record after the budgetGate ended the run; nil if it did not.
func (t *budgetGate) back(out loop.Outcome, now time.Time) func(*queue.Record) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.over != "" && out.Result == loop.BudgetExhausted:
		return to(queue.Waiting, now, "over budget: "+t.over)
	case t.limited != "" && out.Reason == loop.StopAgentRateLimited:
		return func(r *queue.Record) error {
			err := r.Later(now, t.until.Sub(now), queue.LimitOf(t.limited, t.until))
			r.Limited = t.limited
			return err
		}
	}
	return nil
}
