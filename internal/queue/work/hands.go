package work

import (
	"context"
	"errors"
	"sync"
	"time"

	"codeloops/internal/queue"
	"codeloops/internal/queue/board"
)

// Hands are the tasks and merges in progress.
type hands struct {
	ended sync.WaitGroup

	mu      sync.Mutex
	jobs    map[string]*job // by task
	merging map[queue.Repository]*job
	idle    time.Time       // nothing is taken before
	lacks   map[string]bool // tasks that this worker cannot work on
}

// A job is a task or a merge in progress.
type job struct {
	*board.Job

	taken  uint64 // revision of the board when it was taken
	cancel context.CancelCauseFunc
}

// free is the number of free slots.
func (h *hands) free(slots int, now time.Time) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	if now.Before(h.idle) {
		return 0
	}
	return slots - len(h.jobs)
}

// rest sets when the next task may be taken.
func (h *hands) rest(until time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.idle = until
}

// lack notes that this worker cannot work on a task.
func (h *hands) lack(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lacks[id] = true
}

// takes reports whether this worker may take a task: it is able to work on it, and has not got it in hand. A job
// whose end is on the board is in hand until its outcome is known here.
func (h *hands) takes(id string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.lacks[id] && h.jobs[id] == nil
}

// empty reports whether nothing is in progress.
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

// began does a job that was taken, if any, in a goroutine, and lists it in among meanwhile.
func began[K comparable](ctx context.Context, w *Worker, among map[K]*job, key K, j *board.Job, err error, do func(context.Context, *board.Job) error) error {
	if errors.Is(err, board.ErrMoved) {
		return nil // the change will arrive here
	}
	if err != nil || j == nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	h := &w.hands
	h.mu.Lock()
	among[key] = &job{j, j.Revision, cancel}
	h.mu.Unlock()
	h.ended.Go(func() {
		w.end(j, do(ctx, j))
		cancel(nil)
		h.mu.Lock()
		delete(among, key)
		h.mu.Unlock()
		w.sight.signal()
	})
	return nil
}

// drop cancels the job that a change has made stale.
func (h *hands) drop(c board.Update) {
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
