package play_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"codeloops/internal/queue"
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

// session looks at the session of a task where its repository is.
func (w *world) session(r queue.Record) session.Overview {
	w.Helper()
	one := session.Look(filepath.Join(w.machines[0].dir, ".local/share/codeloops/sessions", r.Progress.Session+".jsonl"))
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
	if one := w.session(r); one.Iterations != 2 {
		t.Errorf("%d iterations", one.Iterations)
	}
	stop()
	again := w.works(1, 0) // the machine comes back
	again()
	w.tidy(1)
	w.clean()
}

func (w *world) course(r queue.Record) {
	for _, m := range r.Course {
		w.Logf("%s %s %s %s", m.At.Format("05.000"), m.State, m.Worker, m.Why)
	}
}
