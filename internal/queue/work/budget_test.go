package work_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"codeloops/internal/queue"
	"codeloops/internal/queue/board"
)

// cost is the cost of a turn, in dollars.
const cost = 0.5

// payTurn plays a turn within the budget. In a first attempt the worker may die.
func payTurn(ctx context.Context, j *board.Job, n int) (over *queue.Budget, err error) {
	turn := queue.Turn{ID: fmt.Sprintf("%s %d %d", j.Task.ID, j.Attempt, n), Who: "actor a"}
	over, err = j.Reserve(ctx, turn, func(queue.Budget) error { return nil })
	if over != nil || err != nil {
		return over, err
	}
	if j.Attempt == 1 && rand.IntN(4) == 0 {
		j.Release() // the worker is dead
		return nil, context.Canceled
	}
	return nil, j.Settle(ctx, turn, queue.Amount{Dollars: cost}, true)
}

// playPaid plays six turns.
func playPaid(ctx context.Context, j *board.Job) error {
	for n := range 6 {
		over, err := payTurn(ctx, j, n)
		if over != nil {
			return j.End(ctx, func(r *queue.Record) error { return r.Move(queue.Waiting, time.Now(), over.Over) })
		}
		if err != nil {
			return err
		}
	}
	return finish(ctx, j)
}

// Reservations of dead workers are freed for others, and no worker starts a turn beyond the shared budget.
func TestWorkersShareABudget(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	on := b.board()
	for i := range 12 {
		b.add(on, fmt.Sprintf("task number %d", i), func(task *queue.Task) { task.Order = i })
	}
	limit := 20.0
	if _, err := on.Ledger.ChangeBudget(t.Context(), b.repo, func(b *queue.Budget) error {
		b.Set(queue.BudgetChange{Dollars: &limit})
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	var workers sync.WaitGroup
	for n := range 3 {
		w := b.worker(fmt.Sprintf("worker %d", n), 2, playPaid)
		pending := w.Until
		w.Until = func(all queue.Backlog) bool {
			if w.Holds().Over(b.repo) == "" {
				return pending(all)
			}
			for _, r := range all {
				if r.State != queue.Waiting && all.Pending(r) {
					return false
				}
			}
			return true
		}
		workers.Go(func() {
			if err := w.Run(t.Context()); err != nil {
				t.Errorf("%s: %v", w.Who.Name, err)
			}
		})
	}
	workers.Wait()
	budget, err := on.Ledger.Budget(t.Context(), b.repo)
	if err != nil {
		t.Fatal(err)
	}
	if budget.Spent.Dollars > limit || budget.Spent.Dollars < limit-cost || budget.Over == "" || len(budget.Reserved) > 0 {
		t.Errorf("%+v", budget)
	}
}
