package board_test

import (
	"context"
	"testing"
	"time"

	"codeloops/internal/queue"
)

// TestTakeInterrupted: a task that was taken while the worker is told to stop is either given to the worker, which
// gives it back, or was not taken. Otherwise it would wait until the worker counts as lost.
func TestTakeInterrupted(t *testing.T) {
	t.Parallel()
	const tasks = 200
	h, url, ids := backlogOf(t, tasks, "")
	on := through(t, h, url)
	for n, id := range ids {
		all, err := on.All(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		seen := uint64(0)
		for _, r := range all {
			seen = max(seen, r.Revision)
		}
		if err := on.Offer(t.Context(), *all[id], seen, on.Now()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Duration(n)*10*time.Microsecond, cancel)
		j, err := on.Take(ctx, queue.Repository{}, queue.Worker{}, on.Now())
		cancel()
		if j != nil {
			j.Release()
			continue
		}
		r, unread := on.Get(t.Context(), id)
		if unread != nil {
			t.Fatal(unread)
		}
		if r.State == queue.Running {
			t.Fatalf("task %d is running, and nobody has it: %v", n, err)
		}
		for range 100 { // the hub needs a moment to offer it again
			if j, err = on.Take(t.Context(), queue.Repository{}, queue.Worker{}, on.Now()); j != nil || err != nil {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if j == nil {
			t.Fatalf("task %d cannot be taken any more: %v", n, err)
		}
		j.Release()
	}
}
