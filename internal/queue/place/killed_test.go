//go:build unix

package place_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"codeloops/internal/proc"
	"codeloops/internal/queue/git"
	"codeloops/internal/queue/git/gittest"
	"codeloops/internal/queue/place"
)

// A killer kills its own process before a certain command, or while that runs if late is set.
type killer struct {
	git.Starter
	left *int
	late bool
}

func (k killer) Run(ctx context.Context, c proc.Command) (proc.Result, error) {
	if *k.left--; *k.left == 0 {
		if k.late {
			go k.Starter.Run(ctx, c)
			for range 1000 { // how far the command gets is left to chance
				syscall.Getppid()
			}
		}
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
	return k.Starter.Run(ctx, c)
}

// TestPlayed is run by other tests in a separate process.
//
//nolint:paralleltest // it runs alone there
func TestPlayed(t *testing.T) {
	at, err := strconv.Atoi(os.Getenv("PLACE_KILL_AT"))
	r := gittest.Played(t, func(s git.Starter) git.Starter {
		return killer{s, &at, os.Getenv("PLACE_KILL_LATE") != ""}
	})
	if r == nil || err != nil {
		t.Skip("it is for other tests to run")
	}
	s := scene{Repo: r}
	if s.site, err = place.New(r.Repo, r.State); err != nil {
		t.Fatal(err)
	}
	life(s)
}

// life takes a task from its beginning to its end, or continues one that was killed.
func life(s scene) {
	s.unlock()
	task := place.Task{Name: "t", Base: s.Git("rev-parse", "base"), Setup: "echo ready >>ready"}
	var err error
	task.Head, _, err = s.Commit(s.Context(), "first") // as the queue's record has it
	s.must(err)
	if task.Head != "" {
		task.Base = s.Git("rev-parse", "main2")
	}
	p, err := s.site.Open(s.Context(), task)
	s.must(err)
	if s.Text(p.Dir, ".env") != "secret\n" || s.Text(p.Dir, "ready") != "ready\n" {
		s.Fatal("the place is not ready")
	}
	if task.Head == "" {
		s.Put(p.Dir, "mine", "mine\n")
		s.Put(p.Dir, "both", "mine\n")
		task.Head = s.commit(p)
		s.Git("branch", "--force", "first", task.Head)
	}
	task.Base = s.Git("rev-parse", "main2")
	p, err = s.site.Open(s.Context(), task)
	s.must(err)
	s.Put(p.Dir, "both", "mine and theirs\n")
	head := s.commit(p)
	s.Git("branch", "--force", "done", head)
	s.removed(p)
}

// unlock removes what a killed git has left, as git itself and the hint advise. It could be of another git.
func (s scene) unlock() {
	for _, lock := range []string{"refs/heads/first.lock", "refs/heads/done.lock", "refs/heads/codeloops/t.lock", "refs/codeloops/base/t.lock", "packed-refs.lock"} {
		_ = os.Remove(filepath.Join(s.CommonDir, lock))
	}
}

// TestKilledAnywhere: after a kill before or during any command, the next process completes the task, and nothing is
// lost or left behind.
func TestKilledAnywhere(t *testing.T) {
	t.Parallel()
	for late, step := range map[string]int{"": 1, "1": 3} { // during a command the moment is random, so fewer are tried
		if testing.Short() {
			step = 17
		}
		n := 1
		for killedAt(t, n, late) {
			n += step
		}
		if n < 30 {
			t.Fatalf("the task ran only %d commands", n)
		}
	}
}

// killedAt runs the life of a task in a process that is killed at its n-th command, then continues it in another.
func killedAt(t *testing.T, n int, late string) (killed bool) {
	t.Helper()
	s := newScene(t)
	s.Write(".gitignore", ".env\nready\n")
	s.Write(".worktreeinclude", ".env\n")
	s.Write(".env", "secret\n")
	s.Write("both", "none\n")
	s.Save("base")
	s.Git("branch", "base")
	s.Branch("main2", "main", "both", "theirs\n")
	play := func(at int) ([]byte, error) {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestPlayed$")
		cmd.Env = append(s.Play(), "PLACE_KILL_AT="+strconv.Itoa(at), "PLACE_KILL_LATE="+late)
		return cmd.CombinedOutput()
	}
	s.Git("switch", "-q", "--detach", "main")
	s.Git("branch", "--force", "main", "main2")
	before := s.Untouched()
	out, err := play(n)
	if killed = err != nil; killed && !strings.Contains(err.Error(), "killed") {
		t.Fatalf("%d%s: %v\n%s", n, late, err, out)
	}
	if killed {
		if out, err := play(-1); err != nil {
			t.Fatalf("%d%s, once more: %v\n%s", n, late, err, out)
		}
	}
	if got := s.Git("show", "done:both") + s.Git("show", "done:mine"); got != "mine and theirsmine" {
		t.Errorf("%d%s: done is %q", n, late, got)
	}
	if s.Git("rev-parse", "main2") != s.Git("rev-parse", "main") || s.Untouched() != before {
		t.Errorf("%d%s: the user's HEAD, index or files have changed", n, late)
	}
	if left := s.Git("for-each-ref", "refs/codeloops", "refs/heads/codeloops"); left != "" {
		t.Errorf("%d%s: left %s", n, late, left)
	}
	if left, err := s.site.Find("t"); left != nil || err != nil {
		t.Errorf("%d%s: left %v, %v", n, late, left, err)
	}
	return killed
}
