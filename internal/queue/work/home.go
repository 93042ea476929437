package work

import (
	"context"
	"errors"
	"maps"
	"time"

	"codeloops/internal/queue"
)

// Errands are a worker's duties for its home's tasks, other than playing and merging. Each is done in the background, and
// again after a while if it has failed. These are the names of those for a task.
const (
	bringing = "bring "
	telling  = "tell "
)

// again is the pause before something that failed is tried again, and sweepInterval that between two sweeps.
const (
	again         = time.Minute
	sweepInterval = 10 * time.Minute
)

// due reports whether an errand is not under way, and was not tried for a while.
func (w *Worker) due(name string, pause time.Duration) bool {
	last, tried := w.tried[name]
	return !tried || !last.IsZero() && w.Board.Now().Sub(last) > pause
}

// errand does one.
func (w *Worker) errand(ctx context.Context, name string, do func(context.Context) error) {
	w.tried[name] = time.Time{}
	w.running.Go(func() {
		err := do(ctx)
		if !errors.Is(err, queue.ErrStale) && ctx.Err() == nil && w.said.news(name, err) {
			w.tell(err)
		}
		w.post(ctx, func() { w.tried[name] = w.Board.Now() })
	})
}

// unfetched reports whether a task has ended elsewhere and its result must be fetched from the hub, without a merge.
func (w *Worker) unfetched(r *queue.Record) bool {
	return r.Parcel > 0 && (r.State.Over() || r.Done()) && w.home(r)
}

// hasErrands reports whether a result is being fetched, or one has not been tried yet, or an origin has not been told
// yet.
func (w *Worker) hasErrands() bool {
	for id, r := range w.backlog {
		if w.unfetched(r) && w.tried[bringing+id].IsZero() || r.Tell() && w.home(r) && w.tried[telling+id].IsZero() {
			return true
		}
	}
	return false
}

// runErrands fetches the results of tasks that wait for no merge, tells origins, and removes what is no longer needed. After
// a crash an origin may be told twice.
func (w *Worker) runErrands(ctx context.Context) {
	for id, r := range w.backlog {
		if w.unfetched(r) && w.due(bringing+id, again) {
			w.errand(ctx, bringing+id, func(ctx context.Context) error { return w.Player.Bring(ctx, *r) })
		}
		if r.Tell() && w.home(r) && w.due(telling+id, again) {
			w.errand(ctx, telling+id, func(ctx context.Context) error {
				if err := w.Player.Report(ctx, *r); err != nil {
					return err
				}
				told := r.State
				_, err := w.Board.Change(ctx, id, func(r *queue.Record) error { r.Told = told; return nil })
				return err
			})
		}
	}
	if w.due("sweep", sweepInterval) {
		backlog := maps.Clone(w.backlog)
		w.errand(ctx, "sweep", func(ctx context.Context) error { return w.Player.Sweep(ctx, backlog) })
	}
}
