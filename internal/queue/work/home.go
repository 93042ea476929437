package work

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"codeloops/internal/queue"
	"codeloops/internal/wording/hint"
)

// Errands are a worker's duties for its home's tasks, other than playing and merging. Each is done in the background, and
// again after a while if it has failed.
type errands struct {
	mu    sync.Mutex
	ended map[string]time.Time // the last try
	going map[string]bool
	said  map[string]string // the last error
}

// errand does one, unless it is under way, or was tried less than a pause ago.
func (w *Worker) errand(ctx context.Context, name string, pause time.Duration, do func(context.Context) error) {
	e, now := &w.errands, w.Board.Now()
	e.mu.Lock()
	defer e.mu.Unlock()
	if last, tried := e.ended[name]; e.going[name] || tried && now.Sub(last) <= pause {
		return
	}
	e.going[name] = true
	w.hands.ended.Go(func() {
		err := do(ctx)
		e.mu.Lock()
		delete(e.going, name)
		e.ended[name] = w.Board.Now()
		e.mu.Unlock()
		if !errors.Is(err, queue.ErrStale) && ctx.Err() == nil && e.news(name, err) {
			w.Tell(hint.Sentence(err))
		}
		w.sight.signal()
	})
}

// news reports whether the outcome of an errand is worth telling: it failed, with a new error.
func (e *errands) news(name string, err error) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	was := e.said[name]
	if delete(e.said, name); err == nil {
		return false
	}
	e.said[name] = err.Error()
	return was != err.Error()
}

// open reports whether an errand is under way, or was never tried.
func (e *errands) open(name string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, tried := e.ended[name]
	return e.going[name] || !tried
}

// The names of errands for a task.
const (
	bringing = "bring "
	telling  = "tell "
)

// home reports whether the worker works on a task, and its repository belongs to this home.
func (w *Worker) home(r *queue.Record) bool {
	return r.Task.Repository.At(w.Who.Home) && w.mine(r.Task.Repository)
}

// unfetched reports whether a task has ended elsewhere and its result must be fetched from the hub, without a merge.
func (w *Worker) unfetched(r *queue.Record) bool {
	return r.Parcel > 0 && (r.State.Over() || r.Done()) && w.home(r)
}

// toTell reports whether the origin of a task has yet to be told what has become of it.
func (w *Worker) toTell(r *queue.Record) bool { return r.Tell() && w.home(r) }

// hasErrands reports whether a result is being fetched, or one has not been tried yet, or an origin has not been told
// yet.
func (w *Worker) hasErrands(all queue.Backlog) bool {
	for id, r := range all {
		if w.unfetched(r) && w.errands.open(bringing+id) || w.toTell(r) && w.errands.open(telling+id) {
			return true
		}
	}
	return false
}

// again is the pause before something that failed is tried again, and sweepInterval that between two sweeps.
const (
	again         = time.Minute
	sweepInterval = 10 * time.Minute
)

// runErrands fetches the results of tasks that wait for no merge, tells origins, and removes what is no longer needed. After
// a crash an origin may be told twice.
func (w *Worker) runErrands(ctx context.Context) {
	for _, r := range w.sight.pick(w.unfetched) {
		w.errand(ctx, bringing+r.Task.ID, again, func(ctx context.Context) error { return w.Player.Bring(ctx, r) })
	}
	for _, r := range w.sight.pick(w.toTell) {
		w.errand(ctx, telling+r.Task.ID, again, func(ctx context.Context) error {
			if err := w.Player.Report(ctx, r); err != nil {
				return err
			}
			told := r.State
			_, err := w.Board.Change(ctx, r.Task.ID, func(r *queue.Record) error { r.Told = told; return nil })
			return err
		})
	}
	w.errand(ctx, "sweep", sweepInterval, func(ctx context.Context) error {
		var backlog queue.Backlog
		if !w.sight.look(func(all queue.Backlog, _ uint64) { backlog = maps.Clone(all) }) {
			return nil // it is being read again, so it is not known what is in use
		}
		return w.Player.Sweep(ctx, backlog)
	})
}
