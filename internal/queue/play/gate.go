package play

import (
	"cmp"
	"context"
	"sync"
	"time"

	"codeloops/internal/agent"
	"codeloops/internal/loop"
	"codeloops/internal/queue"
	"codeloops/internal/queue/board"
	"codeloops/internal/run/crew"
	"codeloops/internal/wording/hint"
)

// mostWait is how long a task waits for a service before it is given back.
const mostWait = time.Minute

// A budgetGate controls a run's access to its agents: it starts none once the queue's budget is used up, and none that has
// reached a limit.
type budgetGate struct {
	player *Player
	job    *board.Job
	key    string // of the repository

	mu      sync.Mutex
	over    string       // why the budget stopped a turn
	limited *queue.Limit // the limit that stopped a turn last
}

// budgetGate returns the budgetGate of a job.
func (p *Player) budgetGate(j *board.Job) *budgetGate {
	return &budgetGate{player: p, job: j, key: j.Task.Repository.Key()}
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

// Run implements [agent.Player].
func (a *gatedAgent) Run(ctx context.Context, r agent.Request) (agent.Reply, error) {
	name := a.who.Ref.String()
	holds := a.holds(ctx)
	if l := holds.Limited(name, a.player.Board.Now()); l != nil {
		a.meet(l)
		return a.refused(l), nil
	}
	reply, err := a.pay(ctx, holds, r)
	switch {
	case err != nil:
	case reply.Ending == loop.EndRateLimited:
		l, err := a.job.Limited(context.WithoutCancel(ctx), name, a.until(reply.ResetAt), reply.Reason)
		if err != nil {
			return reply, err
		}
		a.meet(&l)
	case holds.Limits[name].Tries > 0 && !reply.Blocked():
		_ = a.player.Board.Ledger.Unlimited(ctx, a.player.Home.ID(), name) // on failure the next one counts as met in a row
	}
	return reply, err
}

// pay runs a turn within the budget, if there is one.
func (a *gatedAgent) pay(ctx context.Context, holds *queue.Holds, r agent.Request) (agent.Reply, error) {
	budget := holds.Budgets[a.key]
	if !budget.Any() {
		return a.next.Run(ctx, r)
	}
	if err := a.fits(&budget); err != nil {
		return agent.Reply{}, err
	}
	began := a.player.Host.Now()
	reply, err := a.next.Run(ctx, r)
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

// patience is how long a turn waits for the hub to send budgets and limits.
const patience = 5 * time.Second

// holds returns the current budgets and limits, or the last known ones.
func (t *budgetGate) holds(ctx context.Context) *queue.Holds {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	now, err := t.player.Board.Ledger.Holds(ctx, t.player.Home.ID())
	if err != nil {
		return t.player.Holds()
	}
	return now
}

// until is the time until a limit ends, by the clock here; 0 is unknown.
func (a *gatedAgent) until(resets time.Time) time.Duration {
	if resets.IsZero() {
		return 0
	}
	return resets.Sub(a.player.Host.Now())
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

func (t *budgetGate) meet(l *queue.Limit) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.limited = l
}

// refused is the reply for an agent at its limit.
func (a *gatedAgent) refused(l *queue.Limit) agent.Reply {
	return agent.Reply{Turn: loop.Turn{
		Try: loop.Try{Agent: a.who.Ref, Ending: loop.EndRateLimited, Reason: l.Reason}, ResetAt: a.player.Host.Now().Add(l.Until.Sub(a.player.Board.Now())),
	}}
}

// back returns the change of the record after the budgetGate ended the run; nil if it did not.
func (t *budgetGate) back(out loop.Outcome, now time.Time) func(*queue.Record) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.over != "" && out.Result == loop.BudgetExhausted:
		return to(queue.Waiting, now, "over budget: "+t.over)
	case t.limited != nil && out.Reason == loop.StopAgentRateLimited:
		return func(r *queue.Record) error {
			r.NotBefore = now.Add(limitPause) // the limit holds it here; other homes may go on
			return r.Move(queue.Waiting, now, t.limited.String())
		}
	}
	return nil
}

// limitPause is how soon a task whose agent is at a limit is offered again.
const limitPause = 5 * time.Second
