package board_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"codeloops/internal/queue"
	"codeloops/internal/queue/board"
	"codeloops/internal/queue/hub"
)

// seen is the revision of the board.
func seen(t *testing.T, on *board.Board) (at uint64) {
	t.Helper()
	all, err := on.All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		at = max(at, r.Revision)
	}
	return at
}

// TestTakeInterrupted: a task that was taken while the worker is told to stop is either given to the worker, which
// gives it back, or was not taken. Otherwise it would wait until the worker counts as lost.
func TestTakeInterrupted(t *testing.T) {
	t.Parallel()
	const tasks = 200
	h, url, ids := backlogOf(t, tasks, "")
	on := through(t, h, url)
	for n, id := range ids {
		r, err := on.Get(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		at := seen(t, on)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Duration(n)*10*time.Microsecond, cancel)
		j, err := on.Take(ctx, r, at, queue.Worker{})
		cancel()
		if j != nil {
			j.Release()
			continue
		}
		if r, unread := on.Get(t.Context(), id); unread != nil || r.State == queue.Running {
			t.Fatalf("task %d is %s, and nobody has it: %v", n, r.State, errors.Join(err, unread))
		}
	}
}

// Of two that choose the same task, or a task that may no longer begin as another one has, one gets nothing.
func TestTakeTwice(t *testing.T) {
	t.Parallel()
	h, url, ids := backlogOf(t, 2, "")
	on := through(t, h, url)
	at := seen(t, on)
	for n, id := range []string{ids[0], ids[0], ids[1]} {
		r, err := on.Get(t.Context(), ids[1])
		if r.Task.ID = id; err != nil {
			t.Fatal(err)
		}
		j, err := on.Take(t.Context(), r, at, queue.Worker{})
		if first := n == 0; (j != nil) != first || errors.Is(err, board.ErrMoved) == first {
			t.Errorf("take %d: %v, %v", n, j, err)
		}
		if j != nil {
			defer j.Release()
		}
	}
}

// TestTakeFromALiveWorker: whoever has just reached the hub leaves a task whose lease is over to its worker until it has
// listened for a lease.
func TestTakeFromALiveWorker(t *testing.T) {
	t.Parallel()
	h := home(t)
	served, err := h.Serve(t.Context(), hub.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = served.Close() })
	const lease, beat = time.Second, 600 * time.Millisecond
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
	if err != nil {
		t.Fatal(err)
	}
	j, err := on.Take(t.Context(), r, r.Revision, queue.Worker{})
	if err != nil || j == nil {
		t.Fatal(j, err)
	}
	time.Sleep(lease + beat/15) // its heartbeat comes just before the other worker
	other := open()
	unheard, err := other.Listen()
	if err != nil {
		t.Fatal(err)
	}
	defer unheard()
	for began := time.Now(); time.Since(began) < 3*lease; {
		if stolen := takeAgain(t, other, task.ID); stolen != nil {
			t.Fatalf("it was taken after %s", time.Since(began))
		}
	}
	j.Release() // as if it was killed
	released := time.Now()
	var taken *board.Job
	for taken == nil && time.Since(released) < time.Minute {
		taken = takeAgain(t, other, task.ID)
	}
	if after := time.Since(released); taken == nil || after < lease-beat {
		t.Fatalf("%v after %s", taken, after)
	}
	taken.Release()
}

// takeAgain takes over a task that somebody has; nil where that one is alive.
func takeAgain(t *testing.T, on *board.Board, id string) *board.Job {
	t.Helper()
	r, err := on.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	taken, err := on.Take(t.Context(), r, r.Revision, queue.Worker{Name: "other"})
	if err != nil && !errors.Is(err, board.ErrMoved) {
		t.Fatal(err)
	}
	return taken
}
