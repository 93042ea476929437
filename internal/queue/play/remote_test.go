//go:build unix

package play_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"codeloops/internal/queue"
	"codeloops/internal/queue/parcel"
)

// throughRemote makes the first machine's tasks use a git remote, and returns it.
func (w *world) throughRemote() (bare string) {
	w.Helper()
	bare = filepath.Join(filepath.Dir(w.root), "bare.git")
	w.git(filepath.Dir(w.root), "init", "--quiet", "--bare", bare)
	w.git(w.root, "remote", "add", "origin", "file://"+bare)
	w.machines[0].remote = "origin"
	return bare
}

// away lists the tasks' refs on a remote, with their commits.
func (w *world) away(bare string) string {
	w.Helper()
	return w.git(bare, "for-each-ref", "--format=%(objectname) %(refname)", "refs/codeloops")
}

// Everything is sent through the remote, also to a machine that continues another one's task. The hub gets nothing, and in
// the end the remote has nothing of the task.
func TestThroughRemote(t *testing.T) {
	t.Parallel()
	for name, way := range map[string]struct{ from, to int }{
		"from one machine to another": {1, 2}, "from home": {0, 1}, "home": {1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 3)
			bare := w.throughRemote()
			w.carriedOn(way.from, way.to, func(r queue.Record) {
				if way.from != 0 {
					w.branchApart(bare, r)
				}
			})
			w.git(bare, "cat-file", "-e", w.git(w.root, "log", "--all", "--format=%H", "--grep=^one$")) // it was sent through the remote
			if refs := w.away(bare); refs != "" {
				t.Errorf("the remote has\n%s", refs)
			}
		})
	}
}

// branchApart expects that the tip of the branch is on the remote, and nothing on the hub.
func (w *world) branchApart(bare string, r queue.Record) {
	w.Helper()
	commit := ""
	for line := range strings.Lines(w.away(bare)) {
		id, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name == parcel.RefsOf(r.Task.ID, 1)+"branch" {
			commit = id
		}
	}
	if r.Remote != "file://"+bare || commit == "" || w.git(bare, "show", "-s", "--format=%s", commit) != "one" {
		w.Fatalf("%+v\nThe remote has\n%s", r, w.away(bare))
	}
	w.holdsNothing(w.store())
}

// A task that cannot use its remote fails, with the reason and what to do.
func TestWrongRemote(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		spoil func(w *world, bare string)
		want  []string
	}{
		"none": {
			func(w *world, _ string) { w.git(w.root, "remote", "remove", "origin") },
			[]string{`has no git remote "origin"`, "git remote add"},
		},
		"gone": {
			func(_ *world, bare string) { _ = os.RemoveAll(bare) },
			[]string{"the git remote file://", "does not appear to be a git repository", "see whether `git push` can go there"},
		},
		"refuses": {
			func(w *world, bare string) { w.git(bare, "config", "transfer.hideRefs", "refs/codeloops") },
			[]string{"the git remote file://", "[remote rejected]", `set queue.transport to "bundle"`},
		},
		"runs a command": {
			func(w *world, _ string) {
				w.git(w.root, "remote", "set-url", "origin", "ext::sh -c 'touch "+w.root+"/ran'")
			},
			[]string{"no address that another machine could use", "https://"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 2)
			test.spoil(w, w.throughRemote())
			w.play("")
			id := w.add("write two parts")
			w.works(0, 0)
			w.works(1, 1)
			var r queue.Record
			w.await("the task to fail", func() bool {
				var err error
				r, err = w.on.Get(t.Context(), id)
				return err == nil && r.State == queue.Failed
			})
			for _, want := range test.want {
				if !strings.Contains(r.Why, want) {
					t.Errorf("%q does not say %q", r.Why, want)
				}
			}
			if w.there(filepath.Join(w.root, "ran")) {
				t.Error("a command was run")
			}
		})
	}
}

// If the remote is away, a machine sends its result when the remote is back.
func TestRemoteAwayWhileSending(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	bare, dir := w.throughRemote(), w.machines[0].dir
	turns, started, goOn := filepath.Join(dir, "turns"), filepath.Join(dir, "started"), filepath.Join(dir, "go")
	w.play(twoRounds(turns, fmt.Sprintf("touch %s; until test -e %s; do sleep 0.05; done", started, goOn)))
	id := w.add("write two parts")
	var told atomic.Bool
	w.machines[1].tell = func(s string) {
		t.Log(s)
		told.Store(told.Load() || strings.Contains(s, "trying again until it is sent"))
	}
	w.works(0, 0)
	w.works(1, 1)
	w.await("the second turn", func() bool { return w.there(started) })
	if err := os.Rename(bare, bare+".away"); err != nil {
		t.Fatal(err)
	}
	w.writeTo(goOn)
	w.await("the message about it", told.Load)
	if err := os.Rename(bare+".away", bare); err != nil {
		t.Fatal(err)
	}
	r := w.merged(id)
	if got := w.text(turns); got != "actor-1\nactor-2\n" || r.Attempt != 1 {
		t.Errorf("%d attempts, turns: %q", r.Attempt, got)
	}
	if refs := w.away(bare); refs != "" {
		t.Errorf("the remote has\n%s", refs)
	}
}

// unheard returns an address at which nobody listens.
func unheard(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	return l.Addr().String()
}

// A task whose remote cannot be reached at the start waits, and says why.
func TestRemoteAwayAsATaskBegins(t *testing.T) {
	t.Parallel()
	nobody := unheard(t)
	w := newWorld(t, 2)
	bare := w.throughRemote()
	w.git(w.root, "remote", "set-url", "origin", "git://"+nobody+"/bare.git")
	w.play(twoRounds(filepath.Join(w.machines[0].dir, "turns"), "true"))
	id := w.add("write two parts")
	w.works(0, 0)
	w.works(1, 1)
	var r queue.Record
	w.await("the task to wait for the remote", func() bool {
		var err error
		r, err = w.on.Get(t.Context(), id)
		return err == nil && r.Attempt == 1 && r.State != queue.Running
	})
	if r.State != queue.Waiting || !r.NotBefore.After(r.Since) ||
		!strings.Contains(r.Why, "the git remote git://127.0.0.1") || !strings.Contains(r.Why, "it is tried again until it can be reached") {
		t.Errorf("it is %s: %s", r.State, r.Why)
	}
	w.git(w.root, "remote", "set-url", "origin", "file://"+bare)
	if _, err := w.on.Change(t.Context(), id, func(r *queue.Record) error { r.NotBefore = time.Time{}; return nil }); err != nil {
		t.Fatal(err)
	}
	w.merged(id)
}

// If home cannot reach the remote to merge another machine's result, the merge waits and says so once. Other results
// are merged meanwhile.
func TestRemoteAwayAsATaskIsMerged(t *testing.T) {
	t.Parallel()
	nobody := unheard(t)
	w := newWorld(t, 2)
	bare, dir := w.throughRemote(), w.machines[0].dir
	started, goOn, settings := filepath.Join(dir, "started"), filepath.Join(dir, "go"), filepath.Join(dir, ".gitconfig")
	w.play(twoRounds(filepath.Join(dir, "turns"), fmt.Sprintf("touch %s; until test -e %s; do sleep 0.05; done", started, goOn)))
	id := w.add("write two parts")
	w.works(0, 0)
	stop := w.works(1, 1)
	w.await("the second turn", func() bool { return w.there(started) })
	text := fmt.Sprintf("[url \"git://%s/\"]\n\tinsteadOf = file://%s\n", nobody, filepath.Dir(bare)+"/")
	if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	w.writeTo(goOn)
	var r queue.Record
	tried := func(times int) {
		t.Helper()
		w.await("the merge to wait for the remote", func() bool {
			var err error
			r, err = w.on.Get(t.Context(), id)
			return err == nil && (r.State == queue.NeedsHuman || r.State == queue.Finished && r.Offers == 1+times)
		})
		if last := r.Course[len(r.Course)-1]; r.State != queue.Finished || !r.NotBefore.After(r.Since) || r.Why != last.Why ||
			!strings.Contains(r.Why, "the git remote file://") || !strings.Contains(r.Why, "it is tried again until it can be reached") {
			t.Fatalf("it is %s: %s", r.State, r.Why)
		}
	}
	tried(1)
	said := r.Course
	w.soon(id)
	tried(2)
	if len(r.Course) != len(said) {
		t.Errorf("the reason was recorded again: %+v", r.Course)
	}
	stop()
	w.play("[[actor]]\nstep = [{ write = \"other\", content = \"other\" }]\n[[critic]]\nsay = \"DECISION: DONE\"\n")
	w.works(0, 1)
	w.merged(w.add("write something else"))
	if err := os.Remove(settings); err != nil {
		t.Fatal(err)
	}
	w.soon(id)
	r = w.merged(id)
	if refs := w.away(bare); refs != "" || r.Attempt != 1 {
		t.Errorf("attempt %d, the remote has\n%s", r.Attempt, refs)
	}
}

// soon makes a postponed merge due now.
func (w *world) soon(id string) {
	w.Helper()
	if _, err := w.on.Change(w.Context(), id, func(r *queue.Record) error { r.NotBefore = r.Since.Add(1); return nil }); err != nil {
		w.Fatal(err)
	}
}
