//go:build unix

package play_test

import (
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/queue"
	"codeloops/internal/queue/parcel"
	"codeloops/internal/queue/play"
	"codeloops/internal/session"
)

// twoRounds returns a scenario of two iterations. Each turn of the actor appends a line to the file turns; the second
// runs the command waits.
func twoRounds(turns, waits string) string {
	return fmt.Sprintf(`[[actor]]
say = "the first part"
step = [{ run = "echo actor-1 >>%[1]s; echo one >one; git add one; git commit -qm one; echo draft >two" }]
[[actor]]
say = "the second part"
step = [{ run = "echo actor-2 >>%[1]s; %[2]s; cat one two >both; echo done >two" }]
[[critic]]
say = "DECISION: CONTINUE\nFEEDBACK: the second part is missing"
[[critic]]
say = "DECISION: DONE\nSUMMARY: it is there\nCONFIDENCE: 0.9\nF1: settled\nSEAL: {seal}"
`, turns, waits)
}

// sessions returns the directory of sessions on the machine of the repository.
func (w *world) sessions() string {
	return filepath.Join(w.machines[0].dir, ".local/share/codeloops/sessions")
}

// session returns the successful session of a task, on the machine of the repository.
func (w *world) session(r queue.Record) session.Overview {
	w.Helper()
	one := session.Look(filepath.Join(w.sessions(), r.Progress.Session+".jsonl"))
	if one.Err != nil || one.Status != "success" || one.Session.Task != r.Task.ID {
		w.Errorf("session %s of task %s: %+v, %v", one.ID, one.Session.Task, one.Status, one.Err)
	}
	return one
}

// A task can be worked on by a machine that does not have its repository.
func TestAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	turns := filepath.Join(w.machines[0].dir, "turns")
	w.play(twoRounds(turns, "true"))
	id := w.add("write two parts")
	w.works(0, 0)
	stop := w.works(1, 1)
	r := w.merged(id)
	if r.Worker.Home != w.machines[1].home.ID() || r.Attempt != 1 || r.Parcel != 0 {
		t.Errorf("%+v", r)
	}
	if got := w.text(turns); got != "actor-1\nactor-2\n" {
		t.Errorf("turns: %q", got)
	}
	if got := w.git(w.root, "show", r.Merge.Commit+":both"); got != "one\ndraft" {
		t.Errorf("the result is %q", got)
	}
	if log := w.git(w.root, "log", "--format=%an %s", r.Merge.Commit); !strings.Contains(log, "User write two parts") { // in any order, as all may be of one second
		t.Errorf("the commits are\n%s", log)
	}
	w.session(r)
	stop()
	w.clean()
}

// If a machine is gone, another one continues its task without repeating completed turns.
func TestCarriedOnElsewhere(t *testing.T) {
	t.Parallel()
	for name, way := range map[string]struct{ from, to int }{
		"from one machine to another": {1, 2}, "from home": {0, 1}, "home": {1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 3)
			store := w.store()
			w.carriedOn(way.from, way.to, func(r queue.Record) {
				if way.from == 0 {
					return
				}
				if err := store.Put(t.Context(), queue.ParcelTo(r.Task.ID, 1), w.scenario); err != nil { // as if the worker was killed before it took it
					t.Fatal(err)
				}
			})
			w.holdsNothing(store)
		})
	}
}

// TestSessionNeverSent: what an earlier attempt has sent comes home also if a later one was lost before it sent its own session.
func TestSessionNeverSent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	dir := w.machines[0].dir
	started, goOn := filepath.Join(dir, "started"), filepath.Join(dir, "go")
	w.play(twoRounds(filepath.Join(dir, "turns"), fmt.Sprintf("test -e %s || { touch %s; sleep 600; }", goOn, started)))
	id := w.add("write two parts")
	w.works(0, 0)
	first := w.process(1)
	w.await("the second turn", func() bool { return w.there(started) })
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = first.Wait()
	if r, err := w.on.Change(t.Context(), id, func(r *queue.Record) error {
		r.Progress.Session = "2026-01-02T03-04-05Z_000000"
		return nil
	}); err != nil || r.Parcel == 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	w.writeTo(goOn)
	stop := w.works(0, 1)
	w.merged(id)
	stop()
	w.tidy(1)
	w.clean()
}

// store opens the hub's store of parcels.
func (w *world) store() *parcel.Store {
	w.Helper()
	conn, err := w.machines[0].home.Dial(w.url)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(conn.Close)
	store, err := parcel.OpenStore(w.Context(), conn, 1)
	if err != nil {
		w.Fatal(err)
	}
	return store
}

// holdsNothing expects that no parcels are left on the hub.
func (w *world) holdsNothing(store *parcel.Store) {
	w.Helper()
	if err := store.Sweep(w.Context(), func(name string) bool {
		w.Errorf("the hub has %s", name)
		return true
	}, time.Now().Add(time.Hour)); err != nil {
		w.Error(err)
	}
}

// carriedOn kills a machine at work, and has another one continue its task. In between it calls look.
func (w *world) carriedOn(from, to int, look func(queue.Record)) {
	w.Helper()
	dir := w.machines[0].dir
	turns, started, goOn := filepath.Join(dir, "turns"), filepath.Join(dir, "started"), filepath.Join(dir, "go")
	w.play(twoRounds(turns, fmt.Sprintf("test -e %s || { touch %s; sleep 600; }", goOn, started)))
	id := w.add("write two parts")
	w.works(0, 0)
	first := w.process(from)
	w.await("the second turn", func() bool { return w.there(started) })
	seen := w.follows(id)
	if first := <-seen; first != "1 loop.Started\n" {
		w.Errorf("a follower sees %q first", first)
	}
	begun, err := w.on.Get(w.Context(), id)
	if err != nil {
		w.Fatal(err)
	}
	look(begun)
	if err := first.Process.Kill(); err != nil {
		w.Fatal(err)
	}
	_ = first.Wait()
	w.writeTo(goOn)
	stop := w.works(to, 1)
	r := w.merged(id)
	if r.Worker.Home != w.machines[to].home.ID() || r.Attempt != 2 || r.Parcel != 0 {
		w.Errorf("%+v", r)
	}
	if got := w.text(turns); got != "actor-1\nactor-2\nactor-2\n" {
		w.Errorf("turns: %q", got)
	}
	if got := w.git(w.root, "show", r.Merge.Commit+":both"); got != "one\ndraft" {
		w.Errorf("the result is %q", got)
	}
	one := w.session(r)
	if one.Iterations != 2 {
		w.Errorf("%d iterations", one.Iterations)
	}
	got, left := <-seen, w.told(one.Path) // the follower also saw what the first machine did not send
	for line := range strings.Lines(got) {
		left = strings.TrimPrefix(left, line)
	}
	if left != "" {
		w.Errorf("the follower saw\n%swithout\n%s", got, left)
	}
	stop()
	w.tidy(from) // as the machine does when it is back
	w.clean()
}

// The result of a machine that was believed lost is refused, and the machine removes what it has of the task.
func TestLateMachine(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	dir := w.machines[0].dir
	turns, started, goOn := filepath.Join(dir, "turns"), filepath.Join(dir, "started"), filepath.Join(dir, "go")
	w.play(twoRounds(turns, fmt.Sprintf("touch %s; until test -e %s; do sleep 0.05; done", started, goOn)))
	id := w.add("write two parts")
	w.works(0, 0)
	first := w.process(1)
	w.await("the second turn", func() bool { return w.there(started) })
	if err := first.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	w.works(2, 1)
	w.await("another attempt", func() bool {
		r, err := w.on.Get(t.Context(), id)
		return err == nil && r.Attempt == 2
	})
	w.writeTo(goOn)
	if err := first.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	r := w.merged(id)
	if r.Worker.Home != w.machines[2].home.ID() || r.Attempt != 2 {
		t.Errorf("%+v", r)
	}
	if got := w.git(w.root, "show", r.Merge.Commit+":both"); got != "one\ndraft" {
		t.Errorf("the result is %q", got)
	}
	w.session(r)
	w.await("the late machine to remove the task", func() bool {
		left, _ := filepath.Glob(w.machines[1].home.In("away", "*"))
		return len(left) == 0
	})
}

// If the hub is away, a machine sends its result when the hub is back.
func TestHubAwayWhileSending(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	dir := w.machines[0].dir
	turns, started, goOn := filepath.Join(dir, "turns"), filepath.Join(dir, "started"), filepath.Join(dir, "go")
	w.play(twoRounds(turns, fmt.Sprintf("touch %s; until test -e %s; do sleep 0.05; done", started, goOn)))
	id := w.add("write two parts")
	w.works(0, 0)
	w.works(1, 1)
	w.await("the second turn", func() bool { return w.there(started) })
	if err := w.hub.Close(); err != nil {
		t.Fatal(err)
	}
	w.writeTo(goOn)
	w.await("the run to end without a hub", func() bool {
		logs, _ := filepath.Glob(w.machines[1].home.In("away", "*", "sessions", "*.jsonl"))
		return len(logs) == 1 && strings.Contains(w.text(logs[0]), `"type":"session_end"`)
	})
	w.serve()
	r := w.merged(id)
	if got := w.text(turns); got != "actor-1\nactor-2\n" || r.Attempt > 2 {
		t.Errorf("%d attempts, turns: %q", r.Attempt, got)
	}
	w.session(r)
}

// A task whose home is away when it starts waits, says why, and is played later.
func TestNobodyHome(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	w.play(twoRounds(filepath.Join(w.machines[0].dir, "turns"), "true"))
	id := w.add("write two parts")
	ctx, cancel := context.WithCancel(t.Context())
	worker, end, err := w.machines[1].worker(ctx, w.url, 1)
	if err != nil {
		t.Fatal(err)
	}
	worker.Only = nil // as if home had been there a moment ago
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = worker.Run(ctx)
	}()
	w.await("the task to wait", func() bool {
		r, err := w.on.Get(t.Context(), id)
		return err == nil && r.State == queue.Waiting && r.Attempt == 1 && strings.Contains(r.Why, "does not serve the queue") && !r.NotBefore.IsZero()
	})
	w.works(0, 0)
	if _, err := w.on.Change(t.Context(), id, func(r *queue.Record) error { r.NotBefore = time.Time{}; return nil }); err != nil {
		t.Fatal(err)
	}
	w.merged(id)
	cancel()
	<-done
	end()
	w.clean()
}

// A home that is stopped while it prepares an attempt of another machine gives the task back.
func TestHomeStopped(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	dir := w.machines[0].dir
	claims, started := filepath.Join(dir, "claims"), filepath.Join(dir, "started")
	if err := os.WriteFile(claims, []byte("#!/bin/sh\ntest $1 != claim || test -e "+started+" || { touch "+started+"; sleep 600; }\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	w.play(twoRounds(filepath.Join(dir, "turns"), "true"))
	id := w.add("write two parts", func(task *queue.Task) { task.Origin = queue.Origin{Kind: "command", Name: claims, Key: "one"} })
	stop := w.works(0, 0)
	w.works(1, 1)
	w.await("the claim", func() bool { return w.there(started) })
	stop()
	r, err := w.on.Get(t.Context(), id)
	if err != nil || r.State != queue.Waiting || r.Why != "interrupted" {
		t.Errorf("%s: %s, %v", r.State, r.Why, err)
	}
	w.works(0, 0)
	w.merged(id)
}

// A task can be played although the target was rewritten, so that a mirror's commits no longer exist at home.
func TestRewrittenTarget(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	w.play(twoRounds(filepath.Join(w.machines[0].dir, "turns"), "true"))
	w.works(0, 0)
	w.works(1, 1)
	w.git(w.root, "switch", "--quiet", "--detach")
	w.merged(w.add("write two parts"))
	w.git(w.root, "switch", "--quiet", "--orphan", "other")
	w.write("other", "another history\n")
	w.git(w.root, "add", "other")
	w.git(w.root, "commit", "--quiet", "-m", "another history")
	w.git(w.root, "branch", "--force", "main", "other")
	w.git(w.root, "reflog", "expire", "--expire=now", "--all")
	w.git(w.root, "gc", "--quiet", "--prune=now")
	r := w.merged(w.add("write two parts again"))
	if got := w.git(w.root, "ls-tree", "--name-only", r.Merge.Commit); got != "both\none\nother\ntwo" {
		t.Errorf("the result is %q", got)
	}
}

// follows follows the session of a task on the first machine. It sends the first event, and all of them at the end,
// but for loop.Activity.
func (w *world) follows(task string) <-chan string {
	w.Helper()
	conn, err := w.machines[0].home.Dial(w.url)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(conn.Close)
	seen := make(chan string, 2)
	go func() {
		from := play.Follow(w.Context(), conn, w.on, task, func(id string) iter.Seq2[session.Entry, error] {
			store, err := session.NewStore(w.sessions())
			if err != nil {
				w.Error(err)
			}
			return store.Follow(w.Context(), id, nil)
		})
		seen <- w.events(from, func(first string) { seen <- first })
	}()
	return seen
}

func (w *world) events(from iter.Seq2[session.Entry, error], begun func(string)) string {
	var b strings.Builder
	for entry, err := range from {
		if b.Len() > 0 && begun != nil {
			begun(b.String())
			begun = nil
		}
		if err != nil {
			fmt.Fprintln(&b, err)
		} else if _, passing := entry.Event.(loop.Activity); !passing {
			fmt.Fprintf(&b, "%d %T\n", entry.At.Seq, entry.Event)
		}
	}
	return b.String()
}

// told returns the events of a log.
func (w *world) told(log string) string {
	w.Helper()
	return w.events(session.Read(log), nil)
}

// A task whose target was rewritten below what waits for it needs a person, also if another machine takes it.
func TestRewrittenBelow(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	w.play(twoRounds(filepath.Join(w.machines[0].dir, "turns"), "true"))
	w.works(0, 0)
	w.works(1, 1)
	w.git(w.root, "commit", "--quiet", "--allow-empty", "-m", "a typoo")
	w.merged(w.add("write two parts"))
	w.git(w.root, "commit", "--quiet", "--allow-empty", "--amend", "-m", "a typo")
	id := w.add("write two parts again")
	w.await("the task to need a person", func() bool {
		r, err := w.on.Get(t.Context(), id)
		return err == nil && r.State == queue.NeedsHuman && strings.Contains(r.Why, "main was rewritten: ") && strings.Contains(r.Why, "codeloops queue take")
	})
}
