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

// newOperated returns a bench on an operator's NATS servers instead of a hub.
func newOperated(t *testing.T, start func(hubtest.Options) hub.Address) *bench {
	t.Helper()
	home, err := hub.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &bench{t: t, home: home, way: start(hubtest.Options{Homes: []string{home.PublicKey}}), repo: queue.Repository{Home: home.ID(), Root: "/somewhere"}}
}

// A server that is killed and restarted loses nothing that it acknowledged: each task is merged, and none is played
// again after its result was acknowledged.
func TestServerIsKilled(t *testing.T) {
	t.Parallel()
	var server *hubtest.Server
	b := newOperated(t, func(o hubtest.Options) hub.Address {
		server = hubtest.Start(t, o)
		return server.Way()
	})
	b.outlasts(func(int) {
		server.Kill()
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
	})
}

// A cluster loses nothing while any one of its servers is down.
func TestClusterLongWithoutAServer(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it takes its time")
	}
	var servers []*hubtest.Server
	b := newOperated(t, func(o hubtest.Options) (way hub.Address) {
		servers, way = hubtest.Cluster(t, 3, o)
		return way
	})
	b.leases.Replicas = len(servers)
	b.outlasts(func(n int) {
		if n > 0 {
			if err := servers[n-1].Start(); err != nil {
				t.Fatal(err)
			}
			servers[n-1].Await(t)
		}
		servers[n].Kill()
	})
}

// outlasts works through a backlog, and calls kill up to three times meanwhile, with the number of earlier kills.
func (b *bench) outlasts(kill func(before int)) {
	t := b.t
	t.Helper()
	on := b.board()
	const tasks = 40
	for i := range tasks {
		b.add(on, fmt.Sprintf("task number %d", i), func(task *queue.Task) { task.Order = i })
	}
	var mu sync.Mutex
	ended := map[string]int{}
	due := make(chan struct{})
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
				case due <- struct{}{}:
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
	go func() { workers.Wait(); close(due) }()
	kills := 0
	for range due {
		kill(kills)
		kills++
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
