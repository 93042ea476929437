package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"codeloops/internal/command"
	"codeloops/internal/loop"
	"codeloops/internal/session"
)

// together starts commands at the same moment and waits for all of them. What each printed is in
// its Stdout. Whenever one ends, it reports how many are left.
func together(commands []*exec.Cmd, ended func(left int)) {
	start := make(chan struct{})
	var all sync.WaitGroup
	var left atomic.Int64
	left.Store(int64(len(commands)))
	for _, cmd := range commands {
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		all.Go(func() {
			<-start
			_ = cmd.Run() // the exit code is checked later
			ended(int(left.Add(-1)))
		})
	}
	close(start)
	all.Wait()
}

func code(cmd *exec.Cmd) int { return cmd.ProcessState.ExitCode() }

// refusal matches the message of a rejected run, with the process that holds the lock.
var refusal = regexp.MustCompile(`(?m)^codeloops: process ([0-9]+) is already at work in /\S+ \(session \S+, since \S+\)$`)

// TestStartedAtOnce: of many runs started at the same moment one works, and the others say which
// process that is.
func TestStartedAtOnce(t *testing.T) {
	t.Parallel()
	// The turn lasts until all others have been rejected.
	s := newStage(t, `
[[actor]]
step = [{ run = "echo turn >>../turns; while test -e ../hold; do sleep 0.02; done" }]
[[critic]]
say = "DECISION: DONE"
`)
	s.write("hold", "")
	const many = 20
	commands := make([]*exec.Cmd, many)
	for i := range commands {
		commands[i] = s.codeloops("-n", "1", "task")
	}
	together(commands, func(left int) {
		if left == 1 {
			_ = os.Remove(filepath.Join(s.dir, "hold"))
		}
	})

	var winner string
	refused := map[string]int{}
	for _, cmd := range commands {
		out := fmt.Sprint(cmd.Stdout)
		switch says := refusal.FindStringSubmatch(out); {
		case code(cmd) == command.ExitDone && winner == "":
			winner = strconv.Itoa(cmd.Process.Pid)
		case code(cmd) == command.ExitError && says != nil:
			refused[says[1]]++
		default:
			t.Errorf("exit code %d\n%s", code(cmd), out)
		}
	}
	if refused[winner] != many-1 {
		t.Errorf("process %s got the lock, and the rejected ones named %v", winner, refused)
	}
	if turns, err := os.ReadFile(filepath.Join(s.dir, "turns")); err != nil || string(turns) != "turn\n" {
		t.Errorf("the turns are %q, %v", turns, err)
	}
	s.tidy(1)
}

// tidy checks that runs have left the expected number of logs, and no locks.
func (s *stage) tidy(logs int) {
	s.t.Helper()
	if all, err := filepath.Glob(filepath.Join(s.dir, "sessions", "*.jsonl")); err != nil || len(all) != logs {
		s.t.Errorf("the logs are %q, %v", all, err)
	}
	for _, pattern := range []string{"work/.git/codeloops*", "codeloops/locks/*"} {
		if left, err := filepath.Glob(filepath.Join(s.dir, pattern)); err != nil || len(left) > 0 {
			s.t.Errorf("left: %q, %v", left, err)
		}
	}
}

// TestResumedAtOnceAnywhere resumes a session twice at the same moment, again and again: each time
// one process plays the next turn, and the other is rejected.
func TestResumedAtOnceAnywhere(t *testing.T) {
	t.Parallel()
	s := newStage(t, `
[[actor]]
step = [{ run = "echo turn >>../turns" }]
[[critic]]
say = "DECISION: CONTINUE\nFEEDBACK: more"
`)
	if out, err := s.codeloops("-n", "1", "task").CombinedOutput(); !strings.Contains(string(out), "Not done") {
		t.Fatalf("%v\n%s", err, out)
	}
	rounds := some(50)
	for n := 2; n <= rounds+1; n++ {
		s.resumeTwice(n)
	}
	s.awaitDeath()
	acted := map[int]int{}
	for _, e := range s.events() {
		if e, ok := e.(loop.ActorFinished); ok {
			acted[e.Iteration]++
		}
	}
	for n := 1; n <= rounds+1; n++ {
		if acted[n] != 1 {
			t.Errorf("iteration %d was played %d times", n, acted[n])
		}
	}
	s.tidy(1)
}

// resumeTwice lets two processes resume at the nth iteration, which one of them plays.
func (s *stage) resumeTwice(n int) {
	s.t.Helper()
	two := []*exec.Cmd{s.codeloops(), s.codeloops()}
	for _, cmd := range two {
		cmd.Args = []string{cmd.Args[0], "resume", "-n", strconv.Itoa(n)}
	}
	together(two, func(int) {})
	played := 0
	for _, cmd := range two {
		out := fmt.Sprint(cmd.Stdout)
		switch {
		case code(cmd) == command.ExitLimit:
			played++
		case code(cmd) == command.ExitError && (refusal.MatchString(out) || strings.Contains(out, fmt.Sprintf("has used its %d iterations", n))):
		default:
			s.t.Errorf("iteration %d: exit code %d\n%s", n, code(cmd), out)
		}
	}
	turns, err := os.ReadFile(filepath.Join(s.dir, "turns"))
	if got := strings.Count(string(turns), "\n"); err != nil || got != n || played != 1 {
		s.t.Fatalf("iteration %d: %d turns were played, this one by %d of two; %v", n, got, played, err)
	}
}

// TestSameNamesAtOnce: sessions with the same prompt, started in the same second in many work trees
// of one repository, have separate logs, files and checkpoints, whether or not they share a session
// directory.
func TestSameNamesAtOnce(t *testing.T) {
	t.Parallel()
	s := newStage(t, `
[[actor]]
step = [{ run = "basename \"$PWD\" >name.txt; dd if=/dev/zero bs=100k count=1 2>/dev/null | tr '\\0' x" }]
[[critic]]
say = "DECISION: DONE"
`)
	const many = 6
	var commands []*exec.Cmd
	for i := range many {
		name := fmt.Sprintf("tree%d", i)
		cmd := exec.Command("git", "worktree", "add", "-q", "--detach", "../"+name)
		cmd.Dir, cmd.Env = filepath.Join(s.dir, "work"), s.env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		run := s.codeloops("--session-dir", filepath.Join(s.dir, fmt.Sprintf("logs%d", i%2)), "task")
		run.Dir = filepath.Join(s.dir, name)
		commands = append(commands, run)
	}
	together(commands, func(int) {})
	for _, cmd := range commands {
		if code(cmd) != command.ExitDone {
			t.Errorf("exit code %d\n%s", code(cmd), cmd.Stdout)
		}
	}
	of := map[string]string{}
	for i := range many {
		store, err := session.NewStore(filepath.Join(s.dir, fmt.Sprintf("logs%d", i%2)))
		if err != nil {
			t.Fatal(err)
		}
		tree := filepath.Join(s.dir, fmt.Sprintf("tree%d", i))
		id, err := store.Latest(func(sum session.Overview) bool { return sum.Session.WorkingDir == tree })
		if err != nil {
			t.Fatalf("%s: %v", tree, err)
		}
		if other, twice := of[store.Path(id)]; twice {
			t.Errorf("%s and %s have one log", other, tree)
		}
		of[store.Path(id)] = tree
		s.restores(store.Dir(), id, tree)
	}
}

// restores checks that the last checkpoint of a session is that of its own work tree.
func (s *stage) restores(logs, id, tree string) {
	s.t.Helper()
	name := filepath.Join(tree, "name.txt")
	if err := os.Remove(name); err != nil {
		s.t.Fatal(err)
	}
	cmd := s.codeloops()
	cmd.Args = []string{cmd.Args[0], "sessions", "restore", "--session-dir", logs, "--iteration", "1", "--yes", id}
	cmd.Dir = tree
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Errorf("restore %s: %v\n%s", id, err, out)
		return
	}
	if text, err := os.ReadFile(name); err != nil || string(text) != filepath.Base(tree)+"\n" {
		s.t.Errorf("the checkpoint of %s in %s holds %q, %v", id, tree, text, err)
	}
}

// TestAnotherPathToTheTree: a work tree that is mounted elsewhere, or has another git directory
// there, counts as the same work tree.
func TestAnotherPathToTheTree(t *testing.T) {
	t.Parallel()
	s := newStage(t, `
[[actor]]
step = [{ run = "touch ../holding; while test -e ../hold; do sleep 0.02; done" }]
[[critic]]
say = "DECISION: DONE"
`)
	for _, name := range []string{"mounted", "elsewhere"} {
		if err := os.Mkdir(filepath.Join(s.dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	clone := exec.Command("sh", "-c", "git clone -q --bare work other.git && git -C other.git config core.bare false")
	clone.Dir, clone.Env = s.dir, s.env
	if out, err := clone.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s.write("hold", "")
	first := s.codeloops("-n", "1", "task")
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	s.await("the first", func() bool { _, err := os.Stat(filepath.Join(s.dir, "holding")); return err == nil })

	other := []string{"GIT_DIR=" + filepath.Join(s.dir, "other.git"), "GIT_WORK_TREE=" + filepath.Join(s.dir, "work")}
	shares := []string{"GIT_DIR=" + filepath.Join(s.dir, "work", ".git"), "GIT_WORK_TREE=" + filepath.Join(s.dir, "elsewhere")}
	const mount, both = "mount --bind work mounted && cd mounted", "mount --bind work mounted && mount --bind other.git mounted/.git && cd mounted"
	for name, way := range map[string]struct {
		script string
		env    []string
	}{
		"through the process":          {script: "cd /proc/self/root/" + s.dir + "/work"},
		"another git directory":        {script: "cd work", env: other},
		"another work tree":            {script: "cd elsewhere", env: shares},
		"mounted":                      {script: mount},
		"mounted, logs of its own":     {script: mount, env: []string{"XDG_DATA_HOME=" + filepath.Join(s.dir, "elsewhere")}},
		"mounted with a git directory": {script: both},
	} {
		second := s.codeloops("-n", "1", "task")
		second.Dir = s.dir
		second.Env = append(second.Env, way.env...)
		words := append([]string{"sh", "-c", way.script + " && exec \"$@\"", "sh"}, second.Args...)
		if strings.Contains(way.script, "mount ") {
			words = append([]string{"unshare", "--mount", "--map-root-user"}, words...)
			if out, err := exec.Command(words[0], append(words[1:3:3], "true")...).CombinedOutput(); err != nil {
				t.Logf("%s: nothing can be mounted here: %v, %s", name, err, out)
				continue
			}
		}
		again := exec.Command(words[0], words[1:]...)
		again.Dir, again.Env = second.Dir, second.Env
		out, _ := again.CombinedOutput()
		says := refusal.FindStringSubmatch(string(out))
		if code(again) != command.ExitError || says == nil || says[1] != strconv.Itoa(first.Process.Pid) {
			t.Errorf("%s: exit code %d, process %d is at work\n%s", name, code(again), first.Process.Pid, out)
		}
	}
	if err := os.Remove(filepath.Join(s.dir, "hold")); err != nil {
		t.Fatal(err)
	}
	if err := first.Wait(); err != nil {
		t.Error(err)
	}
}
