// Package work plays the tasks of a backlog in a number of slots, and merges results.
//
// Any number of processes may do so at once, on any number of machines, all with equal rights: each takes as many
// tasks as it has free slots, which counts only if the board has not changed meanwhile.
package work

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
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

	// Only the goroutine of Run has these; others post to it.
	backlog queue.Backlog // as last seen
	whole   bool          // whether that is complete
	seen    uint64        // the board's revision
	jobs    map[string]*job
	idle    time.Time            // no task is taken before
	lacks   map[string]bool      // tasks that this worker cannot work on
	tried   map[string]time.Time // the end of each errand's last try; zero: it is under way

	posted  chan func()
	running sync.WaitGroup
	budgets atomic.Pointer[queue.Budgets]
	said    said
}

// A job is a task or a merge in progress.
type job struct {
	*board.Job

	taken  uint64 // revision of the board when it was taken
	cancel context.CancelCauseFunc
	merges queue.Repository // where it merges a result; the zero value: it is a task
}

// Budgets returns the known budgets.
func (w *Worker) Budgets() queue.Budgets {
	if known := w.budgets.Load(); known != nil {
		return *known
	}
	return nil
}

// Able reports, for Until, whether this worker may be able to work on a task: it has not found yet that it lacks what that
// needs.
func (w *Worker) Able(id string) bool { return !w.lacks[id] }

// tick is how often the board is polled for what no change announces: tasks whose worker was lost.
const tick = time.Second

// Run works until ctx is done or Until says so. It returns once all jobs have ended.
func (w *Worker) Run(ctx context.Context) error {
	w.jobs, w.lacks, w.tried, w.posted = map[string]*job{}, map[string]bool{}, map[string]time.Time{}, make(chan func(), 100)
	unheard, err := w.Board.Listen()
	if err != nil {
		return err
	}
	defer unheard()
	ctx, cancel := context.WithCancelCause(ctx)
	defer w.running.Wait()
	defer cancel(nil)
	w.follow(ctx, func() error {
		w.post(ctx, func() { w.backlog, w.whole = queue.Backlog{}, false })
		return w.Board.Follow(ctx, func(c board.Update) { w.post(ctx, func() { w.changed(c) }) })
	})
	w.follow(ctx, func() error {
		return w.Board.FollowBudgets(ctx, func(all queue.Budgets) { w.post(ctx, func() { w.budgets.Store(&all) }) })
	})
	t := time.NewTicker(tick)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case do := <-w.posted:
			do()
		case <-t.C:
		}
		for len(w.posted) > 0 {
			(<-w.posted)()
		}
		if !w.whole || w.budgets.Load() == nil {
			continue
		}
		if w.Until != nil && len(w.jobs) == 0 && w.Until(w.backlog) && !w.hasErrands() {
			return nil
		}
		w.runErrands(ctx)
		err := errors.Join(w.take(ctx), w.merge(ctx))
		if ctx.Err() == nil {
			w.trouble(err) // try again, as the hub may come back
		}
		if err != nil {
			pause(ctx)
		}
	}
}

// post has the goroutine of Run do something, after which it looks for work.
func (w *Worker) post(ctx context.Context, do func()) {
	select {
	case w.posted <- do:
	case <-ctx.Done():
	}
}

// follow reads something from the hub in the background, until ctx is done.
func (w *Worker) follow(ctx context.Context, read func() error) {
	w.running.Go(func() {
		for ctx.Err() == nil {
			if err := read(); ctx.Err() == nil && !errors.Is(err, board.ErrAway) {
				w.trouble(err) // try again, as the hub may come back
				pause(ctx)
			}
		}
	})
}

// pause waits before something is tried again.
func pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(tick):
	}
}

// changed applies a change, and cancels the job that it has made stale.
func (w *Worker) changed(c board.Update) {
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
	if w.whole && w.Watch != nil && c.Record != nil {
		w.Watch(*c.Record)
	}
}

func (w *Worker) mine(r queue.Repository) bool { return w.Only == nil || w.Only(r) }

// home reports whether the worker works on a task, and its repository belongs to this home.
func (w *Worker) home(r *queue.Record) bool {
	return r.Task.Repository.At(w.Who.Home) && w.mine(r.Task.Repository)
}

// takes reports whether this worker may take a task: it is able to work on it, and has not got it in hand. A job
// whose end is on the board is in hand until its outcome is known here.
func (w *Worker) takes(id string) bool { return !w.lacks[id] && w.jobs[id] == nil }

// take takes a task if a slot is free: one whose worker is lost, or else the next one. What it makes of the board arrives as a
// change, after which the next task is taken.
func (w *Worker) take(ctx context.Context) error {
	now, free := w.Board.Now(), w.Slots
	for _, j := range w.jobs {
		if j.merges == (queue.Repository{}) {
			free--
		}
	}
	if free <= 0 || now.Before(w.idle) {
		return nil
	}
	var next *queue.Record
	own := queue.Backlog{}
	for id, r := range w.backlog {
		if !w.mine(r.Task.Repository) {
			continue
		}
		if own[id] = r; r.State == queue.Running && w.takes(id) && w.Board.Lost(r) {
			next = r
		}
	}
	if next == nil {
		next = own.Next(now, w.backlog.Holds(w.Budgets(), w.Who.Home, now), w.takes)
	}
	if next == nil {
		return nil
	}
	return w.begin(ctx, next, queue.Repository{}, w.Player.Play)
}

// merge merges results, one at a time for each repository of this home.
func (w *Worker) merge(ctx context.Context) error {
	busy := map[queue.Repository]bool{}
	for _, j := range w.jobs {
		busy[j.merges] = true
	}
	for _, r := range w.backlog {
		of := r.Task.Repository
		if busy[of] || !r.AwaitsMerge() || !w.home(r) {
			continue
		}
		busy[of] = true
		if next := w.backlog.NextResult(of, w.Board.Lost); next != nil && w.jobs[next.Task.ID] == nil {
			if err := w.begin(ctx, next, of, w.Player.Merge); err != nil {
				return err
			}
		}
	}
	return nil
}

// begin takes a task or a result, and does it in a goroutine.
func (w *Worker) begin(run context.Context, r *queue.Record, merges queue.Repository, do func(context.Context, *board.Job) error) error {
	j, err := w.Board.Take(run, *r, w.seen, w.Who)
	if errors.Is(err, board.ErrMoved) {
		return nil // the change will arrive here
	}
	if err != nil || j == nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(run)
	w.jobs[j.Of()] = &job{j, j.Revision, cancel, merges}
	w.running.Go(func() {
		err := do(ctx, j)
		cancel(nil)
		j.Release()
		lacks := errors.Is(err, queue.ErrLacks)
		if !errors.Is(err, queue.ErrCancelled) && (!lacks || w.said.news("lacks", err)) { // a cancelled task is reported as a change
			w.tell(err)
		}
		w.post(run, func() {
			delete(w.jobs, j.Of())
			if lacks {
				w.lacks[j.Of()] = true
			}
			if errors.Is(err, queue.ErrUnable) {
				w.idle = w.Board.Now().Add(w.Board.Lease())
			}
		})
	})
	return nil
}

func (w *Worker) tell(err error) {
	if err != nil {
		w.Tell(hint.Sentence(err))
	}
}

// trouble reports an error that is not the last one reported; nil means that the problem is over. All errors of a hub
// that does not answer count as one.
func (w *Worker) trouble(err error) {
	if board.Unreachable(err) {
		err = errSilent
	}
	if w.said.news("", err) {
		w.tell(err)
	}
}

// errSilent replaces the errors of a hub that does not answer.
var errSilent = errors.New("the hub does not answer; tasks go on, and report to it when it does (is its disk full, or is it gone? Its own output says so)")

// Said are the last errors that were told.
type said struct {
	mu   sync.Mutex
	last map[string]string
}

// news reports whether the outcome of something is worth telling: it failed, with a new error.
func (s *said) news(name string, err error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.last[name]
	if delete(s.last, name); err == nil {
		return false
	}
	if s.last == nil {
		s.last = map[string]string{}
	}
	s.last[name] = err.Error()
	return was != err.Error()
}
