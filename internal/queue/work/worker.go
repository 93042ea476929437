// Package work plays the tasks of a backlog in a number of slots, offers the next ones, and
// hands results to the merger.
//
// Any number of processes do so at once, on any number of machines, and none of them is special:
// each offers as many tasks as it has slots for, which counts only if nobody has changed the
// board meanwhile.
package work

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"codeloops/internal/queue"
	"codeloops/internal/queue/board"
)

// A Worker works a backlog off. Its fields are not changed once it runs.
type Worker struct {
	Board *board.Board
	Who   queue.Worker
	Slots int
	// Only says whose tasks it works on; nil: everybody's.
	Only func(queue.Repository) bool
	// Play works on a task that was taken, and ends the job. Its context is done, with the
	// cause, when the job does not count any more.
	Play func(context.Context, *board.Job) error
	// Merge merges a result of a repository of this home, and ends the job.
	Merge func(context.Context, *board.Job) error
	// Bring brings home what an attempt on another machine has sent of a task of this home, with which
	// nobody is at work any more; nil: that stays on the hub.
	Bring func(context.Context, queue.Record) error
	// Sweep removes what nobody has a use for any more; nil: nobody does.
	Sweep func(context.Context, queue.Backlog) error
	// Report tells the origin of a task what has become of it; nil: nobody is told.
	Report func(context.Context, queue.Record) error
	// Until reports whether the worker has nothing more to wait for; nil: it never has.
	Until func(queue.Backlog) bool
	// Watch is told of each record that changes; may be nil. It must not block.
	Watch func(queue.Record)
	Now   func() time.Time
	Tell  func(sentence string)

	mu      sync.Mutex
	backlog queue.Backlog
	whole   bool            // the backlog is
	seen    uint64          // revision of the board that it shows
	jobs    map[string]*job // that are under way, by task
	merging map[queue.Repository]bool
	swept   time.Time
	coming  map[string]time.Time // when a task was last to be brought home; in the future while it is
	telling map[string]time.Time // when the origin of a task was last told
	wake    chan struct{}
	ended   sync.WaitGroup
	holds   atomic.Pointer[queue.Holds]
}

// Holds are the budgets and limits as they are known.
func (w *Worker) Holds() *queue.Holds {
	if h := w.holds.Load(); h != nil {
		return h
	}
	return &queue.Holds{}
}

// A job is one that is under way.
type job struct {
	*board.Job
	taken  uint64 // revision of the board at which it was
	cancel context.CancelCauseFunc
}

// tick is how often the board is asked for what comes without a change of it: tasks whose worker
// was lost.
const tick = time.Second

// Run works until ctx is done, or Until says so. What is under way is ended before it returns.
func (w *Worker) Run(ctx context.Context) error {
	w.jobs, w.merging, w.telling, w.wake = map[string]*job{}, map[queue.Repository]bool{}, map[string]time.Time{}, make(chan struct{}, 1)
	w.coming = map[string]time.Time{}
	ctx, cancel := context.WithCancelCause(ctx)
	defer w.ended.Wait()
	defer cancel(nil)
	w.ended.Go(func() { w.follow(ctx) })
	w.ended.Go(func() { w.followHolds(ctx) })
	t := time.NewTicker(tick)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-w.wake:
		case <-t.C:
			w.signal() // so that two at once are one
			<-w.wake
		}
		over, err := w.round(ctx)
		if over {
			return nil
		}
		if err != nil && ctx.Err() == nil {
			w.Tell(err.Error()) // the hub may come back
			pause(ctx)
		}
	}
}

// follow keeps the backlog as it is on the board.
func (w *Worker) follow(ctx context.Context) {
	for ctx.Err() == nil {
		w.mu.Lock()
		w.backlog, w.whole = queue.Backlog{}, false
		w.mu.Unlock()
		if err := w.Board.Follow(ctx, w.changed); ctx.Err() == nil && !errors.Is(err, board.ErrAway) {
			w.Tell(err.Error()) // the hub may come back
			pause(ctx)
		}
	}
}

// followHolds keeps the budgets and limits as they are.
func (w *Worker) followHolds(ctx context.Context) {
	for ctx.Err() == nil {
		if err := w.Board.Ledger.FollowHolds(ctx, w.Who.Home, func(h *queue.Holds) {
			w.holds.Store(h)
			w.signal()
		}); ctx.Err() == nil && !errors.Is(err, board.ErrAway) {
			w.Tell(err.Error()) // the hub may come back
			pause(ctx)
		}
	}
}

// changed takes down what has changed, and ends the job that does not count any more.
func (w *Worker) changed(c board.Change) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = c.Seen
	switch {
	case c.ID == "":
		w.whole = true
	case c.Record == nil:
		delete(w.backlog, c.ID)
	default:
		w.backlog[c.ID] = c.Record
	}
	if j := w.jobs[c.ID]; j != nil && (c.Record == nil || c.Seen > j.taken) {
		if err := j.Stale(c.Record); err != nil {
			j.cancel(err)
		}
	}
	if w.whole {
		w.signal()
		if w.Watch != nil && c.Record != nil {
			w.Watch(*c.Record)
		}
	}
	return nil
}

// pause waits before something is tried again.
func pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(tick):
	}
}

func (w *Worker) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// round does what there is to do.
func (w *Worker) round(ctx context.Context) (over bool, err error) {
	if whole, over := w.stands(); over || !whole {
		return over, nil
	}
	w.bring(ctx)
	return false, errors.Join(w.send(ctx), w.offer(ctx), w.take(ctx), w.merge(ctx), w.sweep(ctx), w.report(ctx))
}

// stands reports whether the backlog is known, and whether there is nothing more to wait for.
func (w *Worker) stands() (whole, over bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	whole = w.whole && w.holds.Load() != nil
	return whole, whole && w.Until != nil && len(w.jobs) == 0 && len(w.merging) == 0 && w.Until(w.backlog) && len(w.untold(0)) == 0 && !w.brings()
}

// brings reports whether something is on its way home, or has not been tried.
func (w *Worker) brings() bool {
	for _, at := range w.coming {
		if at.After(w.Now()) {
			return true
		}
	}
	return slices.ContainsFunc(w.sent(w.backlog, again), func(r *queue.Record) bool { return w.coming[r.Task.ID].IsZero() })
}

// untold are the tasks whose origin is to be told, and has not been asked for longer than that;
// 0: was never asked.
func (w *Worker) untold(longer time.Duration) (due []*queue.Record) {
	for id, r := range w.backlog {
		last, asked := w.telling[id]
		if w.Report == nil || !r.Tell() || !r.Task.Repository.At(w.Who.Home) || !w.mine(r.Task.Repository) {
			continue
		}
		if !asked || longer > 0 && w.Now().Sub(last) > longer {
			due = append(due, r)
		}
	}
	return due
}

// old is after which time whoever had to send something has been killed.
const old = 5 * time.Second

// send sends what others have not come to.
func (w *Worker) send(ctx context.Context) (err error) {
	for _, r := range w.pick(func(b queue.Backlog) (left []*queue.Record) {
		for _, r := range b {
			if (r.State == queue.Offered || r.State == queue.Finished) && w.Now().Sub(r.Since) > old {
				left = append(left, r)
			}
		}
		return left
	}) {
		err = errors.Join(err, w.Board.Send(ctx, &r))
	}
	return err
}

// pick chooses records of the backlog as it is now.
func (w *Worker) pick(choose func(queue.Backlog) []*queue.Record) (picked []queue.Record) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range choose(w.backlog) {
		picked = append(picked, *r)
	}
	return picked
}

func (w *Worker) mine(r queue.Repository) bool { return w.Only == nil || w.Only(r) }

// offer offers tasks for the slots that are free.
func (w *Worker) offer(ctx context.Context) error {
	var seen uint64
	next := w.pick(func(b queue.Backlog) []*queue.Record {
		seen = w.seen
		free, own := w.Slots-len(w.jobs), queue.Backlog{}
		for id, r := range b {
			if w.mine(r.Task.Repository) {
				own[id] = r
				if r.State == queue.Offered {
					free--
				}
			}
		}
		return own.Next(min(free, 1), w.Now(), w.Holds())
	})
	for _, r := range next {
		switch err := w.Board.Offer(ctx, r, seen, w.Now()); {
		case errors.Is(err, board.ErrMoved): // the change is on its way here
		case err != nil:
			return err
		}
	}
	return nil
}

// repositories are those of the backlog.
func (w *Worker) repositories(has func(*queue.Record) bool) map[queue.Repository]bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := map[queue.Repository]bool{}
	for _, r := range w.backlog {
		if w.mine(r.Task.Repository) && has(r) {
			all[r.Task.Repository] = true
		}
	}
	return all
}

// take takes tasks for the slots that are free.
func (w *Worker) take(ctx context.Context) error {
	for of := range w.repositories(func(r *queue.Record) bool { return r.State == queue.Offered || r.State == queue.Running }) {
		for w.free() {
			j, err := w.Board.Take(ctx, of, w.Who, w.Now())
			if err != nil {
				return err
			}
			if j == nil {
				break
			}
			w.play(ctx, j)
		}
	}
	return nil
}

func (w *Worker) free() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.jobs) < w.Slots
}

// play begins to work on a task.
func (w *Worker) play(ctx context.Context, j *board.Job) {
	ctx, cancel := context.WithCancelCause(ctx)
	id := j.Task.ID
	w.mu.Lock()
	w.jobs[id] = &job{j, j.Revision, cancel}
	w.mu.Unlock()
	w.ended.Go(func() {
		err := w.Play(ctx, j)
		j.Release()
		cancel(nil)
		w.mu.Lock()
		delete(w.jobs, id)
		w.mu.Unlock()
		if err != nil {
			w.Tell(err.Error())
		}
		w.signal()
	})
}
