package play_test

import (
	"fmt"
	"iter"
	"path/filepath"
	"strings"
	"testing"

	"codeloops/internal/loop"
	"codeloops/internal/queue"
	"codeloops/internal/queue/play"
	"codeloops/internal/session"
)

// twoRounds is a scenario of two iterations, each of which writes a line to a file outside; waits is
// what the second turn of the actor does before it is done.
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

// sessions is where they are on the machine of the repository.
func (w *world) sessions() string {
	return filepath.Join(w.machines[0].dir, ".local/share/codeloops/sessions")
}

// session looks at the session of a task where its repository is.
func (w *world) session(r queue.Record) session.Overview {
	w.Helper()
	one := session.Look(filepath.Join(w.sessions(), r.Progress.Session+".jsonl"))
	if one.Err != nil || one.Status != "success" || one.Session.Task != r.Task.ID {
		w.Errorf("session %s of task %s: %+v, %v", one.ID, one.Session.Task, one.Status, one.Err)
	}
	return one
}

// A task is worked on by a machine that has nothing of its repository.
func TestAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	turns := filepath.Join(w.machines[0].dir, "turns")
	w.play(twoRounds(turns, "true"))
	id := w.add("write two parts", nil)
	w.works(0, 0)
	stop := w.works(1, 1)
	r := w.becomes(id, queue.Merged)
	if r.Worker.Home != w.machines[1].home.ID() || r.Attempt != 1 || r.Parcels.Count != 0 {
		t.Errorf("%+v", r)
	}
	if got := w.text(turns); got != "actor-1\nactor-2\n" {
		t.Errorf("turns: %q", got)
	}
	if got := w.git(w.root, "show", r.Merge.Commit+":both"); got != "one\ndraft" {
		t.Errorf("the result is %q", got)
	}
	if log := w.git(w.root, "log", "--format=%an %s", r.Merge.Commit); !strings.Contains(log, "User one\n") {
		t.Errorf("the commits are\n%s", log)
	}
	w.course(r)
	w.session(r)
	stop()
	w.clean()
}

// What was done on a machine that is gone is carried on by another one: no turn that has ended is
// played again.
func TestCarriedOnElsewhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	dir := w.machines[0].dir
	turns, started, goOn := filepath.Join(dir, "turns"), filepath.Join(dir, "started"), filepath.Join(dir, "go")
	w.play(twoRounds(turns, fmt.Sprintf("test -e %s || { touch %s; sleep 600; }", goOn, started)))
	id := w.add("write two parts", nil)
	w.works(0, 0)
	first := w.process(1, 1)
	w.await("the second turn", func() bool { return w.there(started) })
	seen := w.follows(id)
	if first := <-seen; first != "1 loop.Started\n" {
		t.Errorf("whoever begins to follow it sees %q first", first)
	}
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = first.Wait()
	w.writeTo(goOn)
	stop := w.works(2, 1)
	r := w.becomes(id, queue.Merged)
	if r.Worker.Home != w.machines[2].home.ID() || r.Attempt != 2 {
		t.Errorf("%+v", r)
	}
	if got := w.text(turns); got != "actor-1\nactor-2\nactor-2\n" {
		t.Errorf("turns: %q", got)
	}
	if got := w.git(w.root, "show", r.Merge.Commit+":both"); got != "one\ndraft" {
		t.Errorf("the result is %q", got)
	}
	one := w.session(r)
	if one.Iterations != 2 {
		t.Errorf("%d iterations", one.Iterations)
	}
	got, left := <-seen, w.told(one.Path) // what the first machine had not sent was seen, too
	for line := range strings.Lines(got) {
		left = strings.TrimPrefix(left, line)
	}
	if left != "" {
		t.Errorf("whoever followed it has seen\n%swithout\n%s", got, left)
	}
	stop()
	again := w.works(1, 0) // the machine comes back
	again()
	w.tidy(1)
	w.clean()
}

// follows follows the session of a task from the first machine, and returns what it has seen when that is
// over: the events but what passes by.
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
			return store.Follow(w.Context(), id, 0)
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

// told are the events of a log.
func (w *world) told(log string) string {
	w.Helper()
	r, err := session.OpenFile(log)
	if err != nil {
		w.Fatal(err)
	}
	defer r.Close()
	return w.events(r.Entries(), nil)
}

func (w *world) course(r queue.Record) {
	for _, m := range r.Course {
		w.Logf("%s %s %s %s", m.At.Format("05.000"), m.State, m.Worker, m.Why)
	}
}
