package work_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"codeloops/internal/queue"
	"codeloops/internal/queue/board"
	"codeloops/internal/queue/hub"
	"codeloops/internal/queue/hub/hubtest"
)

// newOperated is a bench on a NATS server of an operator's.
func newOperated(t *testing.T) *bench {
	t.Helper()
	home, err := hub.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	key, err := home.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	return &bench{
		t: t, home: home, nats: hubtest.Start(t, hubtest.Options{Homes: []string{key}}),
		repo: queue.Repository{Home: home.ID(), Root: "/somewhere"},
	}
}

// A server that is killed in the middle of the work and comes back has what it acknowledged: each
// task is merged, and no attempt at one is counted that began after its result was acknowledged.
func TestServerIsKilled(t *testing.T) {
	t.Parallel()
	b := newOperated(t)
	on := b.board()
	const tasks = 40
	for i := range tasks {
		b.add(on, fmt.Sprintf("task number %d", i), func(task *queue.Task) { task.Order = i })
	}
	var mu sync.Mutex
	ended := map[string]int{}
	kill := make(chan struct{})
	var workers sync.WaitGroup
	for n := range 3 {
		w := b.worker(fmt.Sprintf("worker %d", n), 2, func(ctx context.Context, j *board.Job) error {
			if err := finish(ctx, j); err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			if ended[j.Task.ID]++; slices.Contains([]int{5, 15, 25}, len(ended)) {
				select {
				case kill <- struct{}{}:
				default:
				}
			}
			return nil
		})
		workers.Go(func() {
			if err := w.Run(t.Context()); err != nil {
				t.Errorf("%s: %v", w.Who.Name, err)
			}
		})
	}
	go func() { workers.Wait(); close(kill) }()
	kills := 0
	for range kill {
		kills++
		b.nats.Kill()
		if err := b.nats.Start(); err != nil {
			t.Fatal(err)
		}
	}
	if kills == 0 {
		t.Error("the server was never killed")
	}
	all, err := b.board().All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for id, r := range all {
		if r.State != queue.Merged || ended[id] != 1 {
			t.Errorf("%s is %s after %d attempts, ended %d times", id, r.State, r.Attempt, ended[id])
		}
	}
	if len(all) != tasks {
		t.Errorf("%d records, want %d", len(all), tasks)
	}
}
