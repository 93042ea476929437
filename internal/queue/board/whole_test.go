package board_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"codeloops/internal/queue"
	"codeloops/internal/queue/board"
	"codeloops/internal/queue/hub"
)

// A wire is a proxy between a client and a server. It limits how much the server can send.
type wire struct {
	t      *testing.T
	server string
	at     net.Listener

	mu    sync.Mutex
	more  *sync.Cond
	left  int  // how many bytes may still pass
	cuts  bool // whether the connection is cut after them, once; else it stalls until more may pass
	ended bool
}

// without is no limit.
const without = 1 << 40

func newWire(t *testing.T, url string) *wire {
	t.Helper()
	at, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{t: t, server: strings.TrimPrefix(url, "nats://"), at: at, left: without}
	w.more = sync.NewCond(&w.mu)
	go func() {
		for {
			client, err := at.Accept()
			if err != nil {
				return
			}
			there, err := net.Dial("tcp", w.server)
			if err != nil {
				_ = client.Close()
				continue
			}
			go func() { _, err := io.Copy(there, client); _ = errors.Join(err, there.Close()) }()
			go func() { _ = errors.Join(w.carry(client, there), client.Close(), there.Close()) }()
		}
	}()
	t.Cleanup(func() {
		w.let(0, true)
		w.mu.Lock()
		w.ended = true
		w.mu.Unlock()
		_ = at.Close()
	})
	return w
}

func (w *wire) url() string { return "nats://" + w.at.Addr().String() }

// let lets n more bytes pass.
func (w *wire) let(n int, cuts bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left, w.cuts = n, cuts
	w.more.Broadcast()
}

// carry forwards what the server sends to the client.
func (w *wire) carry(client io.Writer, server io.Reader) error {
	text := make([]byte, 64<<10)
	for {
		n, err := server.Read(text)
		for rest := text[:n]; len(rest) > 0; {
			some, cut := w.pass(len(rest))
			if _, err := client.Write(rest[:some]); err != nil || cut {
				return err
			}
			rest = rest[some:]
		}
		if err != nil {
			return err
		}
	}
}

func (w *wire) pass(want int) (some int, cut bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.left == 0 && !w.cuts {
		w.more.Wait()
	}
	some = min(want, w.left)
	if w.left -= some; w.left == 0 && w.cuts {
		w.left, w.cuts = without, w.ended
		return some, true
	}
	return some, false
}

// backlogOf starts a hub with this many tasks, and returns their IDs.
func backlogOf(t *testing.T, tasks int, text string) (h *hub.Home, url string, ids []string) {
	t.Helper()
	h = home(t)
	served, err := h.Serve(t.Context(), hub.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = served.Close() })
	on := through(t, h, served.URL())
	for n := range tasks {
		task := queue.Task{Prompt: fmt.Sprintf("task number %d\n%s", n, text), Added: time.Now(), Order: n}
		task.Name()
		if _, err := on.Add(t.Context(), task); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, task.ID)
	}
	return h, served.URL(), ids
}

// through opens the board at a URL.
func through(t *testing.T, h *hub.Home, url string) *board.Board {
	t.Helper()
	conn, err := h.Dial(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	on, err := board.Open(t.Context(), conn, board.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return on
}

// The backlog is complete even if the connection is cut while it is read, wherever.
func TestListingThatIsCut(t *testing.T) {
	t.Parallel()
	const tasks = 60
	h, url, _ := backlogOf(t, tasks, strings.Repeat("x", 200))
	w := newWire(t, url)
	on := through(t, h, w.url())
	for n := 1; n < 40_000; n += 797 {
		w.let(n, true)
		if all, err := on.All(t.Context()); err != nil || len(all) != tasks {
			t.Errorf("cut after %d bytes, %d of %d tasks are listed: %v", n, len(all), tasks, err)
		}
	}
}

// The backlog is complete even if tasks change while it is read: a second record of one task does not count for
// another task.
func TestListingWhileTasksChange(t *testing.T) {
	t.Parallel()
	const tasks = 200
	h, url, ids := backlogOf(t, tasks, strings.Repeat("x", 64<<10))
	w := newWire(t, url)
	on, other := through(t, h, w.url()), through(t, h, url)
	w.let(1<<20, false)
	listed := make(chan queue.Backlog, 1)
	go func() {
		all, err := on.All(t.Context())
		if err != nil {
			t.Error(err)
		}
		listed <- all
	}()
	w.stalls()
	for _, id := range []string{ids[0], ids[1], ids[tasks-1], ids[tasks-2]} {
		if _, err := other.Change(t.Context(), id, func(r *queue.Record) error { r.Note(time.Now(), "looked at"); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	w.let(without, false)
	all := <-listed
	for _, id := range ids {
		if all[id] == nil {
			t.Errorf("%s is missing", id)
		}
	}
}

// stalls waits until the limit is reached.
func (w *wire) stalls() {
	w.t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		w.mu.Lock()
		left := w.left
		w.mu.Unlock()
		if left == 0 {
			return
		}
		if time.Now().After(end) {
			w.t.Fatal("the server sent less than the limit")
		}
	}
}

// The backlog is complete even if a task changes all the time.
func TestListingWhileATaskChangesAgainAndAgain(t *testing.T) {
	t.Parallel()
	const tasks = 5
	h, url, ids := backlogOf(t, tasks, "")
	on, other := through(t, h, url), through(t, h, url)
	ctx, stop := context.WithCancel(t.Context())
	var changing sync.WaitGroup
	defer changing.Wait()
	defer stop()
	changing.Go(func() {
		for n := 0; ctx.Err() == nil; n++ {
			_, err := other.Change(ctx, ids[n%2], func(r *queue.Record) error { r.Progress.Iteration = n; return nil })
			if err != nil && ctx.Err() == nil {
				t.Error(err)
			}
		}
	})
	for range 1000 {
		if all, err := on.All(ctx); err != nil || len(all) != tasks {
			t.Fatalf("%d of %d tasks are listed: %v", len(all), tasks, err)
		}
	}
}
