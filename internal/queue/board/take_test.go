package board_test

import (
	"context"
	"testing"
	"time"

	"codeloops/internal/queue"
	"codeloops/internal/queue/board"
	"codeloops/internal/queue/hub"
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
		j, err := on.Take(ctx, queue.Repository{}, queue.Worker{}, func(string) bool { return true }, on.Now())
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
			if j, err = on.Take(t.Context(), queue.Repository{}, queue.Worker{}, func(string) bool { return true }, on.Now()); j != nil || err != nil {
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

// TestTakeFromALiveWorker: whoever has just reached the hub, and is offered a task whose lease is over, leaves it to its
// worker until that has had time for a heartbeat.
func TestTakeFromALiveWorker(t *testing.T) {
	t.Parallel()
	h := home(t)
	served, err := h.Serve(t.Context(), hub.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = served.Close() })
	const lease, beat = 2 * time.Second, 3 * time.Second // so the lease ends, as while a hub is away
	open := func() *board.Board {
		conn, err := h.Dial(served.URL())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(conn.Close)
		on, err := board.Open(t.Context(), conn, board.Options{AckWait: lease, Beat: beat})
		if err != nil {
			t.Fatal(err)
		}
		return on
	}
	on := open()
	task := queue.Task{Prompt: "a task", Added: time.Now()}
	task.Name()
	r, err := on.Add(t.Context(), task)
	if err == nil {
		err = on.Offer(t.Context(), r, r.Revision, on.Now())
	}
	if err != nil {
		t.Fatal(err)
	}
	j, err := on.Take(t.Context(), queue.Repository{}, queue.Worker{}, func(string) bool { return true }, on.Now())
	if err != nil || j == nil {
		t.Fatal(j, err)
	}
	defer j.Release()
	began := time.Now()
	time.Sleep(beat + beat/15) // its heartbeat comes just before the other worker
	for other := open(); time.Since(began) < 2*beat+beat/2; time.Sleep(beat / 60) {
		switch stolen, err := other.Take(t.Context(), queue.Repository{}, queue.Worker{}, func(string) bool { return true }, other.Now()); {
		case err != nil:
			t.Fatal(err)
		case stolen != nil:
			stolen.Release()
			t.Fatalf("it was taken after %s", time.Since(began))
		}
	}
}
