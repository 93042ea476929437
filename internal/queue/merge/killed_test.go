//go:build unix

package merge_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"codeloops/internal/proc"
	"codeloops/internal/queue/git"
	"codeloops/internal/queue/git/gittest"
	"codeloops/internal/queue/merge"
)

// A killer kills its own process before a certain command, or after it if late is set; or it suspends it there.
type killer struct {
	git.Starter
	left *int
	late bool
	stop bool
}

func (k killer) Run(ctx context.Context, c proc.Command) (proc.Result, error) {
	if *k.left--; *k.left == 0 {
		if k.late {
			_, _ = k.Starter.Run(ctx, c)
		}
		sig := syscall.SIGKILL
		if k.stop {
			sig = syscall.SIGSTOP
		}
		_ = syscall.Kill(os.Getpid(), sig)
		time.Sleep(time.Hour) // a signal may take a moment
	}
	return k.Starter.Run(ctx, c)
}

// TestPlayed is run by other tests in a separate process.
//
//nolint:paralleltest // it runs alone there
func TestPlayed(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv("MERGE_KILL_AT"))
	r := gittest.Played(t, func(s git.Starter) git.Starter {
		return killer{s, &n, os.Getenv("MERGE_KILL_LATE") != "", os.Getenv("MERGE_STOP") != ""}
	})
	if r == nil || err != nil {
		t.Skip("it is for other tests to run")
	}
	at(r).merged("two")
}

// TestKilledAnywhere: after a kill before or after any git command, the next merge completes the work exactly once
// and leaves nothing behind.
func TestKilledAnywhere(t *testing.T) {
	t.Parallel()
	step := 1
	if testing.Short() {
		step = 9
	}
	for _, out := range []bool{false, true} {
		for _, late := range []string{"", "1"} {
			n := 1
			for killedAt(t, n, late, out) {
				n += step
			}
			if n < 10 {
				t.Fatalf("the merge ran only %d commands", n)
			}
		}
	}
}

// played is the command that merges in a process of its own, up to the n-th git command.
func (s scene) played(n int, env string) *exec.Cmd {
	cmd := exec.CommandContext(s.Context(), os.Args[0], "-test.run=^TestPlayed$")
	cmd.Env = append(s.Play(), "MERGE_KILL_AT="+strconv.Itoa(n), env)
	return cmd
}

// TestWaitsForSuspended: a merge that waits for a suspended process says so, once, and goes on when that has ended.
func TestWaitsForSuspended(t *testing.T) {
	t.Parallel()
	s := newScene(t, true)
	s.Branch("one", "main", "one", "1\n")
	s.Branch("two", "main", "two", "2\n")
	cmd := s.played(6, "MERGE_STOP=1")
	s.must(cmd.Start())
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(cmd.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatalf("%v, %v", status, err)
	}
	told, done := make(chan string, 100), make(chan error, 1)
	go func() {
		_, err := s.merger.Merge(s.Context(), merge.Request{
			Target: "main", Head: "one", Base: "main", Message: "Merge one\n", Check: green, Tell: func(text string) { told <- text },
		})
		done <- err
	}()
	select {
	case got := <-told:
		if !strings.Contains(got, "process "+strconv.Itoa(cmd.Process.Pid)+", which merges onto main") {
			t.Errorf("told %q", got)
		}
	case <-time.After(5 * time.Minute):
		t.Error("it waits without a word")
	}
	time.Sleep(300 * time.Millisecond) // it looks again several times
	s.must(cmd.Process.Kill())
	_ = cmd.Wait() // it was killed
	if s.must(<-done); len(told) > 0 {
		t.Errorf("told again: %q", <-told)
	}
	s.contains(queue, "one")
	s.clean()
}

func killedAt(t *testing.T, n int, late string, out bool) (killed bool) {
	t.Helper()
	s := newScene(t, out)
	s.Branch("one", "main", "one", "1\n")
	s.Branch("two", "main", "two", "2\n")
	own := s.Branch("three", "main", "three", "3\n")
	s.merged("one")
	if out { // has to be merged in first
		s.Git("merge", "-q", "--ff-only", "three")
	}
	before := s.Untouched()
	cmd := s.played(n, "MERGE_KILL_LATE="+late)
	text, err := cmd.CombinedOutput()
	if killed = err != nil; killed && !strings.Contains(err.Error(), "killed") {
		t.Fatalf("%d%s: %v\n%s", n, late, err, text)
	}
	res := s.merged("two")
	want := 2
	if out {
		s.contains(res.Ref, own)
		want = 3
	}
	if merges := s.Git("rev-list", "--count", "--merges", res.Ref); merges != strconv.Itoa(want) {
		t.Errorf("%d%s: %s merges, want %d", n, late, merges, want)
	}
	if s.Untouched() != before {
		t.Errorf("%d%s: the user's HEAD, index or files have changed", n, late)
	}
	s.clean()
	return killed
}

// TestKilledGit: locks of our refs that a killed git has left do not stop the next merge.
func TestKilledGit(t *testing.T) {
	t.Parallel()
	s := newScene(t, true)
	s.Branch("one", "main", "one", "1\n")
	s.Branch("two", "main", "two", "2\n")
	s.Write("own", "own\n")
	s.Save("own")
	s.merged("one")
	dropped := "refs/codeloops/dropped/main-" + s.Git("rev-parse", queue)[:12]
	s.Git("commit", "-q", "--amend", "-m", "other words")
	for _, ref := range []string{queue, dropped} {
		s.Put(s.CommonDir, ref+".lock", "")
	}
	s.took()
	s.Git("rev-parse", "--verify", dropped)
	s.Put(s.CommonDir, queue+".lock", "")
	s.merged("two")
	s.clean()
}

// TestUsersLock: what waits for a branch moves while the user's git has locked the branch, and the other way round. A
// branch that nobody has checked out does not move then.
func TestUsersLock(t *testing.T) {
	t.Parallel()
	s := newScene(t, true)
	for _, name := range []string{"one", "two", "three"} {
		s.Branch(name, "main", name, name+"\n")
	}
	lock := filepath.Join(s.CommonDir, "refs/heads/main.lock")
	locked := func(head string) error {
		s.Put("", lock, "")
		defer os.Remove(lock)
		_, err := s.merge(head)
		return err
	}
	if err := locked("one"); err != nil {
		t.Error(err)
	}
	s.Git("merge", "-q", "--ff-only", queue)
	if err := locked("two"); err != nil { // also forgets what the user has taken
		t.Error(err)
	}
	s.Git("switch", "-q", "--detach")
	if err := locked("three"); err == nil {
		t.Error("a branch with a lock of the user's has moved")
	}
	s.clean()
}
