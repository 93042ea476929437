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

// Errands are a worker's duties for its home's tasks, other than playing and merging.
type errands struct {
	bringing, telling *tries
	working           *tries // everything else, which is no task
	swept             time.Time
}

// Tries record attempts, by task.
type tries struct {
	mu    sync.Mutex
	last  map[string]time.Time
	going map[string]bool
	said  map[string]string
}

func newTries() *tries {
	return &tries{last: map[string]time.Time{}, going: map[string]bool{}, said: map[string]string{}}
}

// news reports whether the outcome for a task is worth telling: it failed, with a new error.
func (t *tries) news(id string, err error) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	was := t.said[id]
	if delete(t.said, id); err == nil {
		return false
	}
	t.said[id] = err.Error()
	return was != err.Error()
}

// due reports whether a task should be tried: it never was, or last longer ago than that. With 0, only if it never
// was.
func (t *tries) due(id string, now time.Time, longer time.Duration) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	last, tried := t.last[id]
	return !t.going[id] && (!tried || longer > 0 && now.Sub(last) > longer)
}

// begin notes that a task is being tried; end notes that it was.
func (t *tries) begin(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.going[id] = true
}

func (t *tries) end(id string, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.going, id)
	t.last[id] = now
}

// any reports whether any task is being tried.
func (t *tries) any() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.going) > 0
}

// home reports whether the worker works on a task, and its repository belongs to this home.
func (w *Worker) home(r *queue.Record) bool {
	return r.Task.Repository.At(w.Who.Home) && w.mine(r.Task.Repository)
}

// unfetched reports whether a task has ended elsewhere and its result must be fetched from the hub, without a merge.
func (w *Worker) unfetched(r *queue.Record) bool {
	return (r.Parcels.Count > 0 || r.Remote != "") && (r.State.Over() || r.Done()) && w.home(r)
}

// hasErrands reports whether a result is being fetched, or one has not been tried yet, or an origin has not been told
// yet.
func (w *Worker) hasErrands(all queue.Backlog) bool {
	now, e := w.Board.Now(), &w.errands
	for id, r := range all {
		if w.unfetched(r) && e.bringing.due(id, now, 0) || r.Tell() && w.home(r) && e.telling.due(id, now, 0) {
			return true
		}
	}
	return e.bringing.any()
}

// again is the pause before something that failed is tried again.
const again = time.Minute

// bring fetches the results of tasks that wait for no merge.
func (w *Worker) bring(ctx context.Context) {
	now, bringing := w.Board.Now(), w.errands.bringing
	for _, r := range w.sight.pick(func(r *queue.Record) bool { return w.unfetched(r) && bringing.due(r.Task.ID, now, again) }) {
		bringing.begin(r.Task.ID)
		w.hands.ended.Go(func() {
			err := w.Player.Bring(ctx, r)
			bringing.end(r.Task.ID, w.Board.Now())
			if !errors.Is(err, queue.ErrStale) && ctx.Err() == nil && bringing.news(r.Task.ID, err) {
				w.Tell(hint.Sentence(err))
			}
			w.sight.signal()
		})
	}
}

// sweepInterval is the interval of sweeps.
const sweepInterval = 10 * time.Minute

func (w *Worker) sweep(ctx context.Context) error {
	now := w.Board.Now()
	if now.Sub(w.errands.swept) < sweepInterval {
		return nil
	}
	w.errands.swept = now
	var backlog queue.Backlog
	w.sight.look(func(all queue.Backlog, _ uint64) { backlog = maps.Clone(all) })
	if backlog == nil {
		return nil // the backlog is being read again, so it is unknown what is in use
	}
	return w.Player.Sweep(ctx, backlog)
}

// report tells the origins of finished tasks. After a crash an origin may be told twice.
func (w *Worker) report(ctx context.Context) error {
	now, telling := w.Board.Now(), w.errands.telling
	for _, r := range w.sight.pick(func(r *queue.Record) bool {
		return r.Tell() && w.home(r) && telling.due(r.Task.ID, now, again)
	}) {
		telling.end(r.Task.ID, now)
		err := w.Player.Report(ctx, r)
		if telling.news(r.Task.ID, err) {
			w.Tell(hint.Sentence(err))
		}
		if err != nil {
			continue
		}
		told := r.State
		if _, err := w.Board.Change(ctx, r.Task.ID, func(r *queue.Record) error { r.Told = told; return nil }); err != nil {
			return err
		}
	}
	return nil
}
