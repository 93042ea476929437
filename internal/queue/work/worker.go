// Package work plays the tasks of a backlog in a number of slots, and merges results.
//
// Any number of processes may do so at once, on any number of machines, all with equal rights: each takes as many
// tasks as it has free slots, which counts only if the board has not changed meanwhile.
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

// Budgets returns the known budgets.
func (w *Worker) Budgets() queue.Budgets {
	if known := w.sight.budgets.Load(); known != nil {
		return *known
	}
	return nil
}

// Able reports whether this worker may be able to work on a task: it has not found yet that it lacks what that needs.
func (w *Worker) Able(id string) bool {
	w.hands.mu.Lock()
	defer w.hands.mu.Unlock()
	return !w.hands.lacks[id]
}

// tick is how often the board is polled for what no change announces: tasks whose worker was lost.
const tick = time.Second

// Run works until ctx is done or Until says so. It returns once all jobs have ended.
func (w *Worker) Run(ctx context.Context) error {
	w.sight.news = make(chan struct{}, 1)
	w.hands.jobs, w.hands.merging, w.hands.lacks = map[string]*job{}, map[queue.Repository]*job{}, map[string]bool{}
	w.errands.ended, w.errands.going, w.errands.said = map[string]time.Time{}, map[string]bool{}, map[string]string{}
	unheard, err := w.Board.Listen()
	if err != nil {
		return err
	}
	defer unheard()
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
			return w.Board.Ledger.FollowBudgets(ctx, func(all queue.Budgets) {
				w.sight.budgets.Store(&all)
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
	w.runErrands(ctx)
	return false, errors.Join(w.take(ctx), w.merge(ctx))
}

func (w *Worker) mine(r queue.Repository) bool { return w.Only == nil || w.Only(r) }

// take takes a task if a slot is free: one whose worker is lost, or else the next one. What it makes of the board arrives as a
// change, after which the next task is taken.
func (w *Worker) take(ctx context.Context) error {
	now := w.Board.Now()
	if w.hands.free(w.Slots, now) <= 0 {
		return nil
	}
	var next *queue.Record
	var at uint64
	w.sight.look(func(all queue.Backlog, seen uint64) {
		at = seen
		own := queue.Backlog{}
		for id, r := range all {
			if !w.mine(r.Task.Repository) {
				continue
			}
			if own[id] = r; r.State == queue.Running && w.hands.takes(id) && w.Board.Lost(r) {
				next = new(*r)
			}
		}
		if next != nil {
			return
		}
		if r := own.Next(now, all.Holds(w.Budgets(), w.Who.Home, now), w.hands.takes); r != nil {
			next = new(*r)
		}
	})
	if next == nil {
		return nil
	}
	j, err := w.Board.Take(ctx, *next, at, w.Who)
	return began(ctx, w, w.hands.jobs, next.Task.ID, j, err, w.Player.Play)
}

// merge merges results, one at a time for each repository of this home.
func (w *Worker) merge(ctx context.Context) error {
	for of := range w.sight.repositories(func(r *queue.Record) bool {
		return r.AwaitsMerge() && w.home(r) && !w.hands.merges(r.Task.Repository)
	}) {
		var next *queue.Record
		var at uint64
		w.sight.look(func(all queue.Backlog, seen uint64) {
			if r := all.NextResult(of, w.Board.Lost); r != nil {
				next, at = new(*r), seen
			}
		})
		if next == nil {
			continue
		}
		j, err := w.Board.TakeResult(ctx, *next, at)
		if err := began(ctx, w, w.hands.merging, of, j, err, w.Player.Merge); err != nil {
			return err
		}
	}
	return nil
}

// end ends a job.
func (w *Worker) end(j *board.Job, err error) {
	j.Release()
	lacks := errors.Is(err, queue.ErrLacks)
	if lacks {
		w.hands.lack(j.Of())
	}
	if errors.Is(err, queue.ErrUnable) {
		w.hands.rest(w.Board.Now().Add(w.Board.Lease()))
	}
	if err != nil && !errors.Is(err, queue.ErrCancelled) && !(lacks && !w.errands.news("lacks", err)) { // a cancelled task is reported as a change
		w.Tell(hint.Sentence(err))
	}
}

// trouble reports an error that is not the last one reported; nil means that the problem is over. All errors of a hub
// that does not answer count as one.
func (w *Worker) trouble(err error) {
	if board.Unreachable(err) {
		err = errSilent
	}
	if w.errands.news("", err) {
		w.Tell(hint.Sentence(err))
	}
}

// errSilent replaces the errors of a hub that does not answer.
var errSilent = errors.New("the hub does not answer; tasks go on, and report to it when it does (is its disk full, or is it gone? Its own output says so)")
