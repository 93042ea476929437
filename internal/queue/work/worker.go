// Package work offers and plays the tasks of a backlog in a number of slots, and merges results.
//
// Any number of processes may do so at once, on any number of machines, all with equal rights: each offers as many
// tasks as it has free slots, and an offer counts only if the board has not changed meanwhile.
package work

import (
	"context"
	"errors"
	"time"

	"codeloops/internal/queue"
	"codeloops/internal/queue/board"
	"codeloops/internal/wording/hint"
)

// A Player does the work for a home. Bring, Report and Sweep are called for tasks that nobody works on.
type Player interface {
	// Play works on a task and ends the job. Its context is cancelled when the job no longer counts. After
	// [queue.ErrUnable] the worker takes nothing for a while, and after [queue.ErrLacks] the task no more.
	Play(context.Context, *board.Job) error
	// Merge merges a result of this home and ends the job. Its context is cancelled as that of Play is.
	Merge(context.Context, *board.Job) error
	// Bring fetches what an attempt on another machine has sent of a task of this home.
	Bring(context.Context, queue.Record) error
	// Report tells the origin of a task its outcome.
	Report(context.Context, queue.Record) error
	// Sweep removes what is no longer needed.
	Sweep(context.Context, queue.Backlog) error
}

// A Worker works on a backlog. Its fields must not change while it runs.
type Worker struct {
	Board  *board.Board
	Who    queue.Worker
	Slots  int
	Player Player
	// Only selects repositories; nil is all.
	Only func(queue.Repository) bool
	// Until reports whether the worker may stop; nil is never.
	Until func(queue.Backlog) bool
	// Watch is called with each record that changes, and must not block; nil is allowed.
	Watch func(queue.Record)
	Tell  func(sentence string)

	sight   sight
	hands   hands
	errands errands
}

// Holds returns the known budgets and limits.
func (w *Worker) Holds() *queue.Holds {
	if h := w.sight.holds.Load(); h != nil {
		return h
	}
	return &queue.Holds{}
}

// Able reports whether this worker may be able to work on a task: it has not found yet that it lacks what that needs.
func (w *Worker) Able(id string) bool { return w.hands.able(id) }

// tick is how often the board is polled for what no change announces: tasks whose worker was lost.
const tick = time.Second

// Run works until ctx is done or Until says so. It returns once all jobs have ended.
func (w *Worker) Run(ctx context.Context) error {
	w.sight.news = make(chan struct{}, 1)
	w.hands.jobs, w.hands.merging, w.hands.lacks = map[string]*job{}, map[queue.Repository]*job{}, map[string]bool{}
	w.errands.bringing, w.errands.telling, w.errands.working = newTries(), newTries(), newTries()
	ctx, cancel := context.WithCancelCause(ctx)
	defer w.hands.ended.Wait()
	defer cancel(nil)
	w.hands.ended.Go(func() {
		w.follow(ctx, func() error {
			w.sight.clear()
			return w.Board.Follow(ctx, w.changed)
		})
	})
	w.hands.ended.Go(func() {
		w.follow(ctx, func() error {
			return w.Board.Ledger.FollowHolds(ctx, w.Who.Home, func(h *queue.Holds) {
				w.sight.holds.Store(h)
				w.sight.signal()
			})
		})
	})
	t := time.NewTicker(tick)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-w.sight.news:
		case <-t.C:
			w.sight.signal() // merges two signals into one
			<-w.sight.news
		}
		over, err := w.round(ctx)
		if over {
			return nil
		}
		if ctx.Err() == nil {
			w.trouble(err) // try again, as the hub may come back
		}
		if err != nil {
			pause(ctx)
		}
	}
}

// follow reads something from the hub, until ctx is done.
func (w *Worker) follow(ctx context.Context, read func() error) {
	for ctx.Err() == nil {
		if err := read(); ctx.Err() == nil && !errors.Is(err, board.ErrAway) {
			w.trouble(err) // try again, as the hub may come back
			pause(ctx)
		}
	}
}

// changed applies a change, and cancels the job that it has made stale.
func (w *Worker) changed(c board.Update) error {
	whole := w.sight.change(c)
	w.hands.drop(c)
	if whole {
		w.sight.signal()
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

// round does what is due.
func (w *Worker) round(ctx context.Context) (over bool, err error) {
	known := w.sight.look(func(all queue.Backlog, _ uint64) {
		over = w.Until != nil && w.hands.empty() && w.Until(all) && !w.hasErrands(all)
	})
	if over || !known {
		return over, nil
	}
	w.bring(ctx)
	return false, errors.Join(w.send(ctx), w.offer(ctx), w.take(ctx), w.merge(ctx), w.sweep(ctx), w.report(ctx))
}

// old is the age at which a message that is still missing was lost with its sender.
const old = 5 * time.Second

// send sends messages that killed processes did not.
func (w *Worker) send(ctx context.Context) (err error) {
	now := w.Board.Now()
	for _, r := range w.sight.pick(func(r *queue.Record) bool {
		return (r.State == queue.Offered || r.State == queue.Finished) && now.Sub(r.Since) > old
	}) {
		err = errors.Join(err, w.Board.Send(ctx, &r))
	}
	return err
}

func (w *Worker) mine(r queue.Repository) bool { return w.Only == nil || w.Only(r) }

// offer offers a task if a slot is free.
func (w *Worker) offer(ctx context.Context) error {
	now := w.Board.Now()
	free := w.hands.free(w.Slots, now)
	var next *queue.Record
	var at uint64
	w.sight.look(func(all queue.Backlog, seen uint64) {
		own := queue.Backlog{}
		for id, r := range all {
			if w.mine(r.Task.Repository) {
				own[id] = r
				if r.State == queue.Offered {
					free--
				}
			}
		}
		at = seen
		if free <= 0 {
			return
		}
		if r := own.Next(now, w.Holds(), w.hands.able); r != nil {
			next = new(*r)
		}
	})
	if next == nil {
		return nil
	}
	if err := w.Board.Offer(ctx, *next, at, now); !errors.Is(err, board.ErrMoved) {
		return err
	}
	return nil // the change will arrive here
}

// take takes tasks for the free slots.
func (w *Worker) take(ctx context.Context) error {
	for of := range w.sight.repositories(func(r *queue.Record) bool {
		return (r.State == queue.Offered || r.State == queue.Running) && w.mine(r.Task.Repository)
	}) {
		for w.hands.free(w.Slots, w.Board.Now()) > 0 {
			j, err := w.Board.Take(ctx, of, w.Who, w.hands.able, w.Board.Now())
			if err != nil {
				return err
			}
			if j == nil {
				break
			}
			begin(ctx, w, w.hands.jobs, j.Task.ID, j, w.Player.Play)
		}
	}
	now := w.Board.Now()
	late := w.sight.pick(func(r *queue.Record) bool {
		return r.State == queue.Offered && w.mine(r.Task.Repository) && now.Sub(r.Since) < tick
	})
	if len(late) > 0 && w.hands.free(w.Slots, now) > 0 {
		time.AfterFunc(moment, w.sight.signal)
	}
	return nil
}

// moment is the pause before a worker looks again for an offer that it knows of but did not get: the server gives a
// message to others a moment after it has acknowledged it, which is longer on a busy machine.
const moment = 10 * time.Millisecond

// merge merges results, one at a time for each repository of this home.
func (w *Worker) merge(ctx context.Context) error {
	for of := range w.sight.repositories(func(r *queue.Record) bool {
		return r.AwaitsMerge() && w.home(r) && !w.hands.merges(r.Task.Repository)
	}) {
		j, err := w.Board.TakeResult(ctx, of, w.Board.Now())
		if err != nil {
			return err
		}
		if j != nil {
			begin(ctx, w, w.hands.merging, of, j, w.Player.Merge)
		}
	}
	return nil
}

// end ends a job.
func (w *Worker) end(ctx context.Context, j *board.Job, err error) {
	if errors.Is(err, queue.ErrStale) {
		j.Forget(ctx)
	}
	j.Release()
	if errors.Is(err, queue.ErrLacks) {
		w.hands.lack(j.Of())
	}
	if errors.Is(err, queue.ErrUnable) {
		w.hands.rest(w.Board.Now().Add(w.Board.Lease()))
	}
	if err != nil && !errors.Is(err, queue.ErrCancelled) { // a cancelled task is reported as a change
		w.Tell(hint.Sentence(err))
	}
}

// trouble reports an error that is not the last one reported; nil means that the problem is over. All errors of a hub
// that does not answer count as one.
func (w *Worker) trouble(err error) {
	if board.Unreachable(err) {
		err = errSilent
	}
	if w.errands.working.news("", err) {
		w.Tell(hint.Sentence(err))
	}
}

// errSilent replaces the errors of a hub that does not answer.
var errSilent = errors.New("the hub does not answer; tasks go on, and report to it when it does (is its disk full, or is it gone? Its own output says so)")
