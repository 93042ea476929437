package work_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"codeloops/internal/queue"
	"codeloops/internal/queue/board"
	"codeloops/internal/queue/hub"
	"codeloops/internal/queue/work"
)

var errOver = errors.New("the test is over")

// A bench is a hub with a board.
type bench struct {
	t    *testing.T
	home *hub.Home
	hub  *hub.Hub
	way  hub.Address // to a server that replaces the hub, if set
	repo queue.Repository

	leases board.Options
}

// The leases of tests are short.
var leases = board.Options{AckWait: time.Second, Beat: 200 * time.Millisecond}

func newBench(t *testing.T) *bench {
	t.Helper()
	home, err := hub.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, home: home, repo: queue.Repository{Home: home.ID(), Root: "/somewhere"}, leases: leases}
	b.start()
	t.Cleanup(func() {
		if err := b.hub.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func (b *bench) start() {
	b.t.Helper()
	var err error
	if b.hub, err = b.home.Serve(b.t.Context(), hub.Options{}); err != nil {
		b.t.Fatal(err)
	}
}

// board connects over TCP, as another process would.
func (b *bench) board() *board.Board {
	b.t.Helper()
	reach := func() (*hub.Link, error) { return b.home.Connect(b.t.Context()) }
	if b.way.URL != "" {
		reach = func() (*hub.Link, error) { return b.home.Reach(b.way) }
	}
	link, err := reach()
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = link.Close() })
	opened, err := board.Open(b.t.Context(), link.Conn, b.leases)
	if err != nil {
		b.t.Fatal(err)
	}
	return opened
}

func (b *bench) add(on *board.Board, prompt string, change func(*queue.Task)) string {
	b.t.Helper()
	task := queue.Task{Prompt: prompt, Repository: b.repo, Target: "main", Added: time.Now()}
	task.Name()
	if change != nil {
		change(&task)
	}
	if _, err := on.Add(b.t.Context(), task); err != nil {
		b.t.Fatal(err)
	}
	return task.ID
}

// A fake is a player with given functions for playing and merging. It does nothing else.
type fake struct {
	play, merge func(context.Context, *board.Job) error
}

func (f *fake) Play(ctx context.Context, j *board.Job) error  { return f.play(ctx, j) }
func (f *fake) Merge(ctx context.Context, j *board.Job) error { return f.merge(ctx, j) }
func (f *fake) Bring(context.Context, queue.Record) error     { return nil }
func (f *fake) Report(context.Context, queue.Record) error    { return nil }
func (f *fake) Sweep(context.Context, queue.Backlog) error    { return nil }

// worker returns a worker that only moves records: play replaces playing, and every merge succeeds.
func (b *bench) worker(name string, slots int, play func(context.Context, *board.Job) error) *work.Worker {
	return &work.Worker{
		Board: b.board(), Who: queue.Worker{Name: name, Home: b.home.ID()}, Slots: slots,
		Player: &fake{play: play, merge: func(ctx context.Context, j *board.Job) error {
			return j.End(ctx, func(r *queue.Record) error { return r.Move(queue.Merged, time.Now(), "") })
		}},
		Until: func(all queue.Backlog) bool {
			for _, r := range all {
				if all.Pending(r) {
					return false
				}
			}
			return true
		},
		Tell: func(s string) { b.t.Log(name + ": " + s) },
	}
}

func finish(ctx context.Context, j *board.Job) error {
	return j.End(ctx, func(r *queue.Record) error { return r.Move(queue.Finished, time.Now(), "") })
}

func TestEveryTaskIsPlayedAndMergedOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	on := b.board()
	var mu sync.Mutex
	played := map[string]int{}
	var order []string
	var before string
	for i := range 40 {
		id := b.add(on, fmt.Sprintf("task number %d", i), func(task *queue.Task) {
			task.Order = i
			if i%10 == 9 {
				task.After = []string{before}
			}
		})
		before = id
	}
	var workers sync.WaitGroup
	for n := range 3 {
		w := b.worker(fmt.Sprintf("worker %d", n), 2, func(ctx context.Context, j *board.Job) error {
			mu.Lock()
			played[j.Task.ID]++
			order = append(order, j.Task.ID)
			mu.Unlock()
			return finish(ctx, j)
		})
		workers.Go(func() {
			if err := w.Run(t.Context()); err != nil {
				t.Errorf("%s: %v", w.Who.Name, err)
			}
		})
	}
	workers.Wait()
	all, err := on.All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 40 {
		t.Fatalf("%d records, want 40", len(all))
	}
	for id, r := range all {
		if r.State != queue.Merged || played[id] != 1 || r.Attempt != 1 {
			t.Errorf("%s is %s after %d attempts, played %d times", id, r.State, r.Attempt, played[id])
		}
	}
}

// A task that was removed can be added and played again.
func TestTaskIsAddedAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	on := b.board()
	for range 3 {
		id := b.add(on, "the same", nil)
		if err := b.worker("worker", 1, finish).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		r, err := on.Get(t.Context(), id)
		if err != nil || r.State != queue.Merged || r.Attempt != 1 {
			t.Fatalf("%+v, %v", r, err)
		}
		if err := on.Remove(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
}

// The result of a worker that was believed dead is refused, so that a task is done once.
func TestLateWorkerIsRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	on := b.board()
	id := b.add(on, "a task", nil)
	stuck, freed := make(chan struct{}), make(chan struct{})
	late := make(chan error, 1)
	first := b.worker("first", 1, nil)
	silent, stop := context.WithCancel(t.Context())
	first.Player.(*fake).play = func(ctx context.Context, j *board.Job) error {
		j.Release() // as if the worker was stopped
		close(stuck)
		<-freed
		err := finish(context.WithoutCancel(ctx), j)
		late <- err
		return err
	}
	first.Until = nil
	var workers sync.WaitGroup
	workers.Go(func() { _ = first.Run(silent) })
	<-stuck
	second := b.worker("second", 1, finish)
	if err := second.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	close(freed)
	if err := <-late; !errors.Is(err, queue.ErrStale) {
		t.Errorf("the late result: %v, want %v", err, queue.ErrStale)
	}
	stop()
	workers.Wait()
	r, err := on.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if r.State != queue.Merged || r.Attempt != 2 || r.Worker.Name != "second" {
		t.Errorf("%+v", r)
	}
}

// The outcome of a merger that was believed dead is refused, even while the next one still works on the merge.
func TestLateMergerIsRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	on := b.board()
	id := b.add(on, "a task", nil)
	w := b.worker("w", 1, finish)
	merged := make(chan error, 1)
	var first *board.Job
	w.Player.(*fake).merge = func(ctx context.Context, j *board.Job) error {
		if first == nil {
			j.Release() // as if the worker was stopped
			first = j
			return nil
		}
		merged <- first.End(ctx, func(r *queue.Record) error { return r.Move(queue.NeedsHuman, time.Now(), "") })
		return j.End(ctx, func(r *queue.Record) error { return r.Move(queue.Merged, time.Now(), "") })
	}
	if err := w.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-merged; !errors.Is(err, queue.ErrStale) {
		t.Errorf("the late merger: %v, want %v", err, queue.ErrStale)
	}
	if r, err := on.Get(t.Context(), id); err != nil || r.State != queue.Merged {
		t.Errorf("the task is %s, %v", r.State, err)
	}
}

// Workers play further tasks while another one merges, however many results wait for it.
func TestMergerHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	on := b.board()
	for i := range 6 {
		b.add(on, fmt.Sprintf("task %d", i), func(task *queue.Task) { task.Order = i })
	}
	played, all := make(chan struct{}, 6), make(chan struct{})
	play := func(ctx context.Context, j *board.Job) error {
		played <- struct{}{}
		return finish(ctx, j)
	}
	var workers sync.WaitGroup
	for _, name := range []string{"one", "two"} {
		w := b.worker(name, 1, play)
		merge := w.Player.(*fake).merge
		w.Player.(*fake).merge = func(ctx context.Context, j *board.Job) error {
			<-all
			return merge(ctx, j)
		}
		workers.Go(func() {
			if err := w.Run(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	for range 6 {
		<-played
	}
	close(all)
	workers.Wait()
}

// A result whose merger is lost is offered to another one.
func TestEarlyResultComesAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	on := b.board()
	for i := range 3 {
		b.add(on, fmt.Sprintf("task %d", i), nil)
	}
	w := b.worker("lost", 1, finish)
	ctx, stop := context.WithCancel(t.Context())
	w.Until = nil
	w.Player.(*fake).merge = func(_ context.Context, j *board.Job) error {
		j.Release() // the worker is dead
		stop()
		return nil
	}
	_ = w.Run(ctx)
	w = b.worker("next", 1, finish)
	if err := w.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// A task whose workers are lost again and again is given up.
func TestLostWorkersBuryATask(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	on := b.board()
	id := b.add(on, "a task that kills", nil)
	lost := 0
	w := b.worker("w", 1, func(_ context.Context, j *board.Job) error {
		lost++
		j.Release() // the worker is dead
		return nil
	})
	if err := w.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	r, err := on.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if r.State != queue.Dead || lost != board.MostLost {
		t.Errorf("%s after %d losses: %+v", r.State, lost, r)
	}
	// A retry starts over.
	if _, err := on.Change(t.Context(), id, func(r *queue.Record) error { return r.Retry(time.Now()) }); err != nil {
		t.Fatal(err)
	}
	w = b.worker("w", 1, finish)
	if err := w.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r, _ = on.Get(t.Context(), id); r.State != queue.Merged {
		t.Errorf("after a retry it is %s", r.State)
	}
}

// A worker keeps a task that takes much longer than a lease.
func TestLongTaskIsNotGivenAway(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	on := b.board()
	id := b.add(on, "a long task", nil)
	w := b.worker("w", 2, func(ctx context.Context, j *board.Job) error {
		time.Sleep(5 * leases.AckWait)
		return finish(ctx, j)
	})
	if err := w.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r, _ := on.Get(t.Context(), id); r.State != queue.Merged || r.Attempt != 1 {
		t.Errorf("%+v", r)
	}
}

// A worker keeps its task even if the hub is away for longer than a lease.
func TestLongAbsenceOfTheHub(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it takes some leases")
	}
	b := newBench(t)
	b.leases = board.Options{AckWait: 3 * time.Second, Beat: 2 * time.Second}
	on := b.board()
	id := b.add(on, "a task", nil)
	begun, end := make(chan struct{}), make(chan struct{})
	play := func(ctx context.Context, j *board.Job) error {
		if j.Attempt == 1 {
			close(begun)
			<-end
		}
		return finish(ctx, j)
	}
	var workers sync.WaitGroup
	for _, name := range []string{"first", "second"} {
		w := b.worker(name, 1, play)
		workers.Go(func() {
			if err := w.Run(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	<-begun
	if err := b.hub.Close(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(b.leases.AckWait)
	b.start()
	time.Sleep(2 * b.leases.AckWait)
	close(end)
	workers.Wait()
	if r, err := b.board().Get(t.Context(), id); err != nil || r.Attempt != 1 {
		t.Errorf("%d attempts, %v", r.Attempt, err)
	}
}

// Cancelling a task stops the worker that plays it.
func TestCancelStopsTheWorker(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	on := b.board()
	id := b.add(on, "a task", nil)
	begun := make(chan struct{})
	w := b.worker("w", 1, func(ctx context.Context, j *board.Job) error {
		close(begun)
		<-ctx.Done()
		if !errors.Is(context.Cause(ctx), queue.ErrStale) {
			t.Errorf("stopped by %v", context.Cause(ctx))
		}
		return finish(context.WithoutCancel(ctx), j)
	})
	go func() {
		<-begun
		if _, err := on.Change(t.Context(), id, func(r *queue.Record) error {
			return r.Move(queue.Cancelled, time.Now(), "")
		}); err != nil {
			t.Error(err)
		}
	}()
	if err := w.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r, _ := on.Get(t.Context(), id); r.State != queue.Cancelled {
		t.Errorf("%+v", r)
	}
}

// Cancelling or removing a task stops its merge, and the next result is merged at once.
func TestCancelStopsTheMerge(t *testing.T) {
	t.Parallel()
	for name, drop := range map[string]func(*board.Board, string) error{
		"cancelled": func(on *board.Board, id string) error {
			_, err := on.Change(t.Context(), id, func(r *queue.Record) error { return r.Move(queue.Cancelled, time.Now(), "") })
			return err
		},
		"removed": func(on *board.Board, id string) error {
			r, err := on.Get(t.Context(), id)
			if err == nil {
				err = on.Remove(t.Context(), r)
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.leases = board.Options{AckWait: time.Hour, Beat: 200 * time.Millisecond}
			on := b.board()
			first := b.add(on, "a task", nil)
			second := b.add(on, "another task", func(task *queue.Task) { task.Order = 1 })
			w := b.worker("w", 1, finish)
			merge := w.Player.(*fake).merge
			w.Player.(*fake).merge = func(ctx context.Context, j *board.Job) error {
				if j.Task.ID != first {
					return merge(ctx, j)
				}
				if err := drop(on, first); err != nil {
					t.Error(err)
				}
				<-ctx.Done()
				return context.Cause(ctx)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			if err := w.Run(ctx); err != nil {
				t.Fatal(err)
			}
			if r, err := on.Get(t.Context(), second); err != nil || r.State != queue.Merged {
				t.Errorf("the other task is %s, %v", r.State, err)
			}
		})
	}
}

// Workers survive a restart of the hub, which loses nothing that it acknowledged.
func TestHubComesBack(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	on := b.board()
	for i := range 20 {
		b.add(on, fmt.Sprintf("task %d", i), func(task *queue.Task) { task.Order = i })
	}
	var mu sync.Mutex
	done := 0
	gone := make(chan struct{})
	w := b.worker("w", 2, func(ctx context.Context, j *board.Job) error {
		mu.Lock()
		if done++; done == 5 {
			close(gone)
		}
		mu.Unlock()
		for {
			err := finish(ctx, j)
			if err == nil || errors.Is(err, queue.ErrStale) {
				return nil
			}
			if ctx.Err() != nil {
				return err
			}
			time.Sleep(20 * time.Millisecond)
		}
	})
	w.Until = nil
	ctx, stop := context.WithCancelCause(t.Context())
	var workers sync.WaitGroup
	workers.Go(func() { _ = w.Run(ctx) })
	<-gone
	if err := b.hub.Close(); err != nil {
		t.Fatal(err)
	}
	b.start() // on another port
	on = b.board()
	for {
		all, err := on.All(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		merged := 0
		for _, r := range all {
			if r.State == queue.Merged {
				merged++
			}
		}
		if merged == 20 {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	stop(errOver)
	workers.Wait()
}

// TestLacks: a worker that lacks what tasks need tries each once at most, and leaves them to one that has it.
func TestLacks(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	on := b.board()
	for i := range 6 {
		b.add(on, fmt.Sprintf("task number %d", i), func(task *queue.Task) { task.Order = i })
	}
	var tried, played atomic.Int64
	bare := b.worker("bare", 2, func(ctx context.Context, j *board.Job) error {
		tried.Add(1)
		err := j.End(ctx, func(r *queue.Record) error { return r.Later(time.Now(), 0, "it lacks the agent") })
		time.Sleep(50 * time.Millisecond) // the other slot sees the record meanwhile
		return errors.Join(queue.ErrLacks, err)
	})
	var told atomic.Int64
	bare.Tell = func(string) { told.Add(1) }
	able := b.worker("able", 1, func(ctx context.Context, j *board.Job) error {
		played.Add(1)
		time.Sleep(50 * time.Millisecond) // leaves tasks to the other for a while
		return finish(ctx, j)
	})
	var workers sync.WaitGroup
	for _, w := range []*work.Worker{bare, able} {
		workers.Go(func() {
			if err := w.Run(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	workers.Wait()
	if tried.Load() > 6 || played.Load() != 6 || told.Load() > 1 {
		t.Errorf("tried %d times, told so %d times, and played %d tasks", tried.Load(), told.Load(), played.Load())
	}
}
