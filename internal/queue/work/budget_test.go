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

// playPaid plays six turns within the budget. In a first attempt the worker may die.
func playPaid(ctx context.Context, on *board.Board, j *board.Job) error {
	for range 6 {
		budget, err := on.Budget(ctx, j.Task.Repository)
		if err != nil {
			return err
		}
		if why, _ := budget.Over(); why != "" {
			return j.End(ctx, func(r *queue.Record) error { return r.Move(queue.Waiting, time.Now(), why) })
		}
		if j.Attempt == 1 && rand.IntN(4) == 0 {
			j.Release() // the worker is dead
			return context.Canceled
		}
		if err := j.Spend(ctx, queue.Amount{Dollars: cost}); err != nil {
			return err
		}
	}
	return finish(ctx, j)
}

// No worker starts a turn once the shared budget is reached, so each may exceed it by one turn in each slot.
func TestWorkersShareABudget(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	on := b.board()
	for i := range 12 {
		b.add(on, fmt.Sprintf("task number %d", i), func(task *queue.Task) { task.Order = i })
	}
	limit := 20.0
	if err := on.ChangeBudget(t.Context(), b.repo, func(b *queue.Budget) error {
		b.Set(func(a *queue.Amount) { a.Dollars = limit })
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	var workers sync.WaitGroup
	for n := range 3 {
		w := b.worker(fmt.Sprintf("worker %d", n), 2, func(ctx context.Context, j *board.Job) error { return playPaid(ctx, on, j) })
		pending := w.Until
		w.Until = func(all queue.Backlog) bool {
			if w.Budgets().Over(b.repo) == "" {
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
	budget, err := on.Budget(t.Context(), b.repo)
	if err != nil {
		t.Fatal(err)
	}
	if why, _ := budget.Over(); why == "" || budget.Spent.Dollars > limit+6*cost {
		t.Errorf("%q: %+v", why, budget)
	}
}
