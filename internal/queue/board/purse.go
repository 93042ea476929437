package board

import (
	"context"
	"errors"
	"maps"
	"time"

	"codeloops/internal/queue"
)

// pause is how long a turn waits for others before it tries again.
const pause = 500 * time.Millisecond

// errNoBudget says that there is none.
var errNoBudget = errors.New("there is no budget")

// Reserve reserves the cost of a turn, if there is a budget. It waits while the turns of others leave too little.
// over is the budget where the turn may not start, and nil where it may. It waits while the hub is away. ready
// gets the budget before anything is reserved.
func (j *Job) Reserve(ctx context.Context, t queue.Turn, ready func(queue.Budget) error) (over *queue.Budget, err error) {
	t.Task, t.Attempt = j.given.Task.ID, j.given.Attempt
	seen := silences{}
	for {
		how, over, err := j.reserve(ctx, t, ready)
		if err != nil || how != queue.Waits {
			return over, err
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if freed, err := j.board.free(ctx, j.given.Task.Repository, seen); err == nil && freed {
			continue
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

// reserve tries once.
func (j *Job) reserve(ctx context.Context, t queue.Turn, ready func(queue.Budget) error) (how queue.Admission, over *queue.Budget, err error) {
	err = retry(ctx, func(ctx context.Context) error {
		b, err := j.board.Ledger.ChangeBudget(ctx, j.given.Task.Repository, func(b *queue.Budget) error {
			if !b.Any() {
				return errNoBudget
			}
			if err := ready(*b); err != nil {
				return err
			}
			if how = b.Reserve(t); how == queue.Waits {
				return errWaits
			}
			return nil
		})
		over = &b
		return err
	})
	switch {
	case errors.Is(err, errNoBudget):
		return queue.Begins, nil, nil
	case errors.Is(err, errWaits):
		return queue.Waits, nil, nil
	case err != nil:
		return how, nil, err
	case how == queue.Over:
		return how, over, nil
	}
	j.paying.Lock()
	defer j.paying.Unlock()
	j.open[t.ID] = true
	return queue.Begins, nil, nil
}

// errWaits says that other turns must end first.
var errWaits = errors.New("other turns are under way")

// beatReserved sends the heartbeats of reserved turns.
func (j *Job) beatReserved(ctx context.Context) {
	j.paying.Lock()
	open := maps.Clone(j.open)
	j.paying.Unlock()
	if len(open) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, min(j.board.options.Beat, 4*pause)) // the job's own heartbeat waits for it
	defer cancel()
	_, _ = j.board.Ledger.ChangeBudget(ctx, j.given.Task.Repository, func(b *queue.Budget) error { // if the hub is away, the next heartbeat does
		for i := range b.Reserved {
			if open[b.Reserved[i].ID] {
				b.Reserved[i].Beat++
			}
		}
		return nil
	})
}

// silences count how often this process has seen reservations without a new heartbeat, by ID.
type silences map[string]silence

type silence struct{ beat, looks int }

// long reports whether a reservation has been silent for the length of a lease. It is called once every pause.
func (s silences) long(r queue.Reservation, lease time.Duration) bool {
	was, known := s[r.ID]
	if !known || was.beat != r.Beat {
		was = silence{beat: r.Beat}
	}
	was.looks++
	s[r.ID] = was
	return time.Duration(was.looks-1)*pause > lease
}

// free releases reservations whose turns nobody plays any more.
func (b *Board) free(ctx context.Context, of queue.Repository, seen silences) (freed bool, err error) {
	budget, err := b.Ledger.Budget(ctx, of)
	if err != nil {
		return false, err
	}
	gone := map[string]bool{}
	for _, r := range budget.Reserved {
		task, err := b.Get(ctx, r.Task)
		if err != nil && !errors.Is(err, ErrNone) {
			return false, err
		}
		gone[r.ID] = err != nil || !r.Current(&task) || seen.long(r, b.options.AckWait)
		freed = freed || gone[r.ID]
	}
	if !freed {
		return false, nil
	}
	_, err = b.Ledger.ChangeBudget(ctx, of, func(budget *queue.Budget) error {
		budget.Release(func(r queue.Reservation) bool { return gone[r.ID] })
		return nil
	})
	return err == nil, err
}

// Settle ends a reserved turn, whatever became of the job: its cost is spent.
func (j *Job) Settle(ctx context.Context, t queue.Turn, cost queue.Amount, whole bool) error {
	t.Task, t.Attempt = j.given.Task.ID, j.given.Attempt
	j.paying.Lock()
	delete(j.open, t.ID)
	j.paying.Unlock()
	tried := false
	return retry(ctx, func(ctx context.Context) error {
		_, err := j.board.Ledger.ChangeBudget(ctx, j.given.Task.Repository, func(b *queue.Budget) error {
			if !b.Any() || tried && !b.Reserves(t.ID) { // or it was stored, and the answer was lost
				return errNoBudget
			}
			b.Settle(t, cost, whole)
			return nil
		})
		if tried = true; errors.Is(err, errNoBudget) {
			err = nil
		}
		return err
	})
}

// Limited records that an agent has reached a limit, for a pause, 0 where that is unknown; it applies to all tasks
// in this worker's home. It waits while the hub is away.
func (j *Job) Limited(ctx context.Context, agent string, pause time.Duration, reason string) (l queue.Limit, err error) {
	err = retry(ctx, func(ctx context.Context) (err error) {
		l, err = j.board.Ledger.Limited(ctx, j.given.Worker.Home, agent, pause, reason)
		return err
	})
	return l, err
}
