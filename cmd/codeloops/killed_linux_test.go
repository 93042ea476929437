package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"codeloops/internal/command"
	"codeloops/internal/loop"
	"codeloops/internal/loop/looptest"
	"codeloops/internal/session"
)

// A stage is a repository with agents that report their progress by creating files, and then wait
// until they are ended.
type stage struct {
	t    *testing.T
	dir  string
	word string // a word in the command line of every process of its agents
	env  []string
}

func newStage(t *testing.T, scenario string) *stage {
	t.Helper()
	dir := t.TempDir()
	s := &stage{t: t, dir: dir, word: fmt.Sprintf("agent-of-%d-%d", os.Getpid(), rand.Uint64())}
	s.env = append(os.Environ(),
		"HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_DATA_HOME="+dir, "CODELOOPS_SESSION_DIR="+filepath.Join(dir, "sessions"),
		"GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull, playCodeloops+"=1", "NO_COLOR=1", "CI=",
		"CODELOOPS_CONVERGENCE_STOP_AFTER=0") // nothing changes in these runs
	s.write("scenario.toml", strings.ReplaceAll(scenario, "WORD", s.word))
	for _, args := range [][]string{
		{"init", "-q", "work"},
		{"-C", "work", "-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", "start"},
	} {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir, cmd.Env = dir, s.env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	return s
}

func (s *stage) write(name, text string) {
	s.t.Helper()
	if err := writeApart(filepath.Join(s.dir, name), text, 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// writeApart writes an executable file in another process. A process that is forked here meanwhile
// would hold the file open for writing until its exec, and the file could not be run.
func writeApart(path, text string, mode os.FileMode) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(path, []byte(text), mode)
}

// codeloops returns a run that has not been started yet.
func (s *stage) codeloops(args ...string) *exec.Cmd {
	s.t.Helper()
	self, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.Command(self, append([]string{"--agent", "scripted", "--script", "../scenario.toml"}, args...)...)
	cmd.Dir, cmd.Env = filepath.Join(s.dir, "work"), s.env
	return cmd
}

func (s *stage) await(what string, there func() bool) {
	s.t.Helper()
	for end := time.Now().Add(liveness); !there(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("timed out waiting for %s", what)
		}
	}
}

// events reads the only log, which may be damaged only by a torn last line.
func (s *stage) events() []loop.Event {
	s.t.Helper()
	logs, err := filepath.Glob(filepath.Join(s.dir, "sessions", "*.jsonl"))
	if err != nil || len(logs) > 1 {
		s.t.Fatal(logs, err)
	}
	if len(logs) == 0 {
		return nil
	}
	var events []loop.Event
	for entry, err := range session.Read(logs[0]) {
		if err != nil && !errors.Is(err, session.ErrTorn) {
			s.t.Fatal(err)
		}
		if err == nil {
			events = append(events, entry.Event)
		}
	}
	return events
}

// awaitDeath waits until all processes of a killed run have ended: its agents, and the keeper that may
// be about to start one.
func (s *stage) awaitDeath() {
	s.t.Helper()
	s.await("the end of what was started", func() bool { return !running(s.dir, "") })
}

// check compares the log of a killed run with the grammar of events, as far as it goes, and looks
// for leftover processes.
func (s *stage) check() []loop.Event {
	s.t.Helper()
	s.awaitDeath()
	events := s.events()
	var grammar looptest.Grammar
	for i, e := range events {
		if _, end := e.(loop.Finished); end {
			s.t.Fatalf("a killed run has logged an end")
		}
		if err := grammar.Handle(loop.Stamp{Seq: i + 1}, e); err != nil {
			s.t.Fatalf("event %d: %v", i+1, err)
		}
	}
	return events
}

const phases = `
[[actor]]
say = "the actor's words"
step = [
  { write = "a.txt", content = "a\n" },
  { spawn = "sh -c 'sleep 300; true' WORD", own_session = true },
  { run = "if test -e ../hold-actor; then touch ../actor; sh -c 'sleep 300; true' WORD; fi" },
]
[[critic]]
step = [{ run = "if test -e ../hold-critic; then touch ../critic; sh -c 'sleep 300; true' WORD; fi" }]
say = "DECISION: CONTINUE\nFEEDBACK: more"
`

// TestKilledInEachPhase kills codeloops with SIGKILL during an agent's turn and during a check. A capture starts
// nothing that could last.
func TestKilledInEachPhase(t *testing.T) {
	t.Parallel()
	for phase, want := range map[string]loop.State{
		"actor":  loop.ActorExecuting,
		"check":  loop.Verifying,
		"critic": loop.CriticEvaluating,
	} {
		t.Run(phase, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, phases)
			s.write("hold-"+phase, "")
			cmd := s.codeloops("-n", "3", "--check",
				"if test -e ../hold-check; then touch ../check; sh -c 'sleep 300; true' "+s.word+"; fi", "--", "task")
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			s.await(phase, func() bool { _, err := os.Stat(filepath.Join(s.dir, phase)); return err == nil })
			s.await("what "+phase+" leaves", func() bool { return running(s.dir, s.word) })
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // it was killed
			events := s.check()
			last, ok := events[len(events)-1].(loop.PhaseEntered)
			if !ok || last.State != want {
				t.Errorf("the log ends with %#v, want the phase %v", events[len(events)-1], want)
			}

			// The lock of the work tree is free again.
			if err := os.Remove(filepath.Join(s.dir, "hold-"+phase)); err != nil {
				t.Fatal(err)
			}
			again := s.codeloops("-n", "1", "--session-dir", filepath.Join(s.dir, "again"), "--", "task")
			if out, err := again.CombinedOutput(); again.ProcessState.ExitCode() != command.ExitLimit {
				t.Errorf("the next run: %v\n%s", err, out)
			}
		})
	}
}

// some returns how many cases of a series to run: all of them, or one with -short.
func some(all int) int {
	if testing.Short() {
		return 1
	}
	return all
}

// TestKilledAnywhere kills codeloops at random moments.
func TestKilledAnywhere(t *testing.T) {
	t.Parallel()
	for i := range some(12) {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			s := newStage(t, phases)
			cmd := s.codeloops("-n", "0", "--check", "true", "--", "task")
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Duration(rand.IntN(1000)) * time.Millisecond)
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // it was killed
			s.check()
		})
	}
}

// TestStopsWhenNobodyReads: a run whose output is no longer read, as when a terminal hangs, still
// stops when told to.
func TestStopsWhenNobodyReads(t *testing.T) {
	t.Parallel()
	s := newStage(t, "[[actor]]\nstep = [{ flood = \"10MB\" }, { hang = true }]\n[[critic]]\nsay = \"DECISION: DONE\"\n")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd := s.codeloops("-v", "--", "task")
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill := time.AfterFunc(liveness, func() { _ = cmd.Process.Kill() })
	defer kill.Stop()
	s.await("the pipe is full", func() bool {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(w.Fd()), Events: unix.POLLOUT}}, 0)
		return err == nil && n == 0
	})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(100 * time.Millisecond) // so that a write blocks
	if err := cmd.Process.Signal(unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != command.ExitInterrupted {
		t.Errorf("exit code %d", code)
	}
	logs, _ := filepath.Glob(filepath.Join(s.dir, "sessions", "*.jsonl"))
	if len(logs) != 1 {
		t.Fatalf("the logs are %q", logs)
	}
	if text, err := os.ReadFile(logs[0]); err != nil || !strings.Contains(string(text), `"outcome":"interrupted"`) {
		t.Errorf("the log holds %s, %v", text, err)
	}
}
