package work

import (
	"context"
	"errors"
	"maps"
	"time"

	"codeloops/internal/queue"
)

// merge merges results, of each repository of this home one at a time.
func (w *Worker) merge(ctx context.Context) error {
	for of := range w.repositories(func(r *queue.Record) bool {
		return r.State == queue.Finished && !r.Task.Unmerged && r.Task.Repository.At(w.Who.Home) && !w.merging[r.Task.Repository]
	}) {
		j, err := w.Board.TakeResult(ctx, of, w.Now())
		if err != nil {
			return err
		}
		if j == nil {
			continue
		}
		w.mu.Lock()
		w.merging[of] = true
		w.mu.Unlock()
		w.ended.Go(func() {
			err := w.Merge(ctx, j)
			j.Release()
			w.mu.Lock()
			delete(w.merging, of)
			w.mu.Unlock()
			if err != nil {
				w.Tell(err.Error())
			}
			w.signal()
		})
	}
	return nil
}

// bring brings home what was sent of tasks that wait for no merge.
func (w *Worker) bring(ctx context.Context) {
	for _, r := range w.pick(func(b queue.Backlog) []*queue.Record { return w.sent(b, again) }) {
		w.mu.Lock()
		w.coming[r.Task.ID] = w.Now().Add(time.Hour)
		w.mu.Unlock()
		w.ended.Go(func() {
			err := w.Bring(ctx, r)
			w.mu.Lock()
			w.coming[r.Task.ID] = w.Now()
			w.mu.Unlock()
			if err != nil && !errors.Is(err, queue.ErrStale) && ctx.Err() == nil {
				w.Tell(err.Error())
			}
			w.signal()
		})
	}
}

// sweeping is how often what is of no more use is looked for.
const sweeping = 10 * time.Minute

func (w *Worker) sweep(ctx context.Context) error {
	if w.Sweep == nil || w.Now().Sub(w.swept) < sweeping {
		return nil
	}
	w.swept = w.Now()
	w.mu.Lock()
	all := maps.Clone(w.backlog)
	w.mu.Unlock()
	return w.Sweep(ctx, all)
}

// sent are the tasks of this home of which there is something on the hub that is to be brought home, and
// was not tried for longer than that.
func (w *Worker) sent(b queue.Backlog, longer time.Duration) (all []*queue.Record) {
	for id, r := range b {
		rests := r.State.Over() || r.State == queue.Finished && r.Task.Unmerged
		if w.Bring == nil || r.Parcels.Count == 0 && r.Remote == "" || !rests || !r.Task.Repository.At(w.Who.Home) || !w.mine(r.Task.Repository) {
			continue
		}
		if last, tried := w.coming[id]; !tried || w.Now().Sub(last) > longer {
			all = append(all, r)
		}
	}
	return all
}

// again is when an origin that could not be reached is told once more.
const again = time.Minute

// report tells the origins of tasks that are over. It is done again until it is known to have
// been done: an origin may be told twice.
func (w *Worker) report(ctx context.Context) error {
	for _, r := range w.pick(func(queue.Backlog) []*queue.Record {
		due := w.untold(again)
		for _, r := range due {
			w.telling[r.Task.ID] = w.Now()
		}
		return due
	}) {
		if err := w.Report(ctx, r); err != nil {
			w.Tell(err.Error())
			continue
		}
		told := r.State
		if _, err := w.Board.Change(ctx, r.Task.ID, func(r *queue.Record) error { r.Told = told; return nil }); err != nil {
			return err
		}
	}
	return nil
}
