package work

import (
	"context"
	"sync"
	"time"

	"codeloops/internal/queue"
	"codeloops/internal/queue/board"
)

// Hands are what a worker has in them: the tasks and the merges that are under way.
type hands struct {
	ended sync.WaitGroup

	mu      sync.Mutex
	jobs    map[string]*job // by task
	merging map[queue.Repository]*job
	idle    time.Time // until when they take nothing
}

// A job is one that is under way.
type job struct {
	*board.Job

	taken  uint64 // revision of the board at which it was
	cancel context.CancelCauseFunc
}

// free are the slots, of so many, that can be taken.
func (h *hands) free(slots int, now time.Time) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	if now.Before(h.idle) {
		return 0
	}
	return slots - len(h.jobs)
}

// rest has nothing taken until then.
func (h *hands) rest(until time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.idle = until
}

// empty reports whether nothing is under way.
func (h *hands) empty() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.jobs) == 0 && len(h.merging) == 0
}

// merges reports whether a result of a repository is being merged.
func (h *hands) merges(r queue.Repository) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.merging[r] != nil
}

// play has a job played, beside; ended is called behind that.
func (h *hands) play(ctx context.Context, j *board.Job, do func(context.Context), ended func()) {
	begin(ctx, h, h.jobs, j.Task.ID, j, do, ended)
}

// merge has a result of a repository merged, beside; ended is called behind that.
func (h *hands) merge(ctx context.Context, of queue.Repository, j *board.Job, do func(context.Context), ended func()) {
	begin(ctx, h, h.merging, of, j, do, ended)
}

// begin begins a job, which is under way among others for as long as it lasts.
func begin[K comparable](ctx context.Context, h *hands, among map[K]*job, key K, j *board.Job, do func(context.Context), ended func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	h.mu.Lock()
	among[key] = &job{j, j.Revision, cancel}
	h.mu.Unlock()
	h.ended.Go(func() {
		do(ctx)
		cancel(nil)
		h.mu.Lock()
		delete(among, key)
		h.mu.Unlock()
		ended()
	})
}

// drop ends the job that does not count any more, going by what has changed.
func (h *hands) drop(c board.Change) {
	h.mu.Lock()
	defer h.mu.Unlock()
	end := func(j *job) {
		if c.Record != nil && c.Seen <= j.taken {
			return
		}
		if err := j.Stale(c.Record); err != nil {
			j.cancel(err)
		}
	}
	if j := h.jobs[c.ID]; j != nil {
		end(j)
	}
	for _, j := range h.merging {
		if j.Of() == c.ID {
			end(j)
		}
	}
}
