package main

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"codeloops/internal/command"
	"codeloops/internal/loop"
)

// paid is a session of two iterations whose agents record each turn. The file slow.txt passes
// through a git filter while the diff is captured.
const paid = `
[[actor]]
say = "one"
step = [
  { run = "echo actor >>../calls" },
  { write = "slow.txt", content = "one\n" },
  { run = "if test -e ../hold-actor; then touch ../actor; sh -c 'sleep 300; true' WORD; fi" },
  { run = "if test -e ../large; then for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do seq 90000 >large$i.txt; done; fi" },
]
[[actor]]
say = "two"
step = [{ run = "echo actor >>../calls" }, { write = "b.txt", content = "two\n" }]
[[critic]]
step = [
  { run = "echo critic >>../calls" },
  { run = "if test -e ../hold-critic; then touch ../critic; sh -c 'sleep 300; true' WORD; fi" },
]
say = "DECISION: CONTINUE\nFEEDBACK: more"
[[critic]]
step = [{ run = "echo critic >>../calls" }]
say = "DECISION: DONE\nF1: settled"
`

// A ledger compares the turns that agents were asked for with those in the log.
type ledger struct {
	*stage
	cut map[loop.Role]int // turns that were started and are not in the log
}

func newLedger(t *testing.T) *ledger {
	t.Helper()
	s := newStage(t, paid)
	s.write("slow", "#!/bin/sh\ntouch ../capture\nwhile test -e ../hold-capture; do sleep 0.02; done\nexec cat\n")
	if err := os.Chmod(filepath.Join(s.dir, "slow"), 0o700); err != nil {
		t.Fatal(err)
	}
	s.write("work/.git/info/attributes", "slow.txt filter=slow\n")
	s.write("work/.git/config", "[core]\nrepositoryformatversion = 0\n[filter \"slow\"]\nclean = ../slow\n")
	return &ledger{stage: s, cut: map[loop.Role]int{}}
}

// start starts the session, or resumes it.
func (l *ledger) start(resume bool) *exec.Cmd {
	l.t.Helper()
	check := "if test -e ../hold-check; then touch ../check; sh -c 'sleep 300; true' " + l.word + "; fi"
	cmd := l.codeloops("-n", "4", "--check", check, "--", "task")
	if resume {
		self := cmd.Args[0]
		cmd.Args = []string{self, "resume", "--agent", "scripted", "--script", "../scenario.toml", "--check", check}
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		l.t.Fatal(err)
	}
	return cmd
}

// kill kills codeloops, and records which turns it cut off.
func (l *ledger) kill(cmd *exec.Cmd) {
	l.t.Helper()
	if err := cmd.Process.Kill(); err != nil {
		l.t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	l.awaitDeath()
	for role, begun := range l.begun() {
		before := l.cut[role]
		l.cut[role] = begun - l.finished()[role]
		if more := l.cut[role] - before; more < 0 || more > 1 {
			l.t.Errorf("one kill cut %d turns of the %s", more, role)
		}
	}
	for _, name := range []string{"actor", "check", "critic"} {
		_ = os.Remove(filepath.Join(l.dir, "hold-"+name))
	}
}

// begun counts the turns that agents started.
func (l *ledger) begun() map[loop.Role]int {
	calls, _ := os.ReadFile(filepath.Join(l.dir, "calls"))
	return map[loop.Role]int{
		loop.RoleActor:  strings.Count(string(calls), "actor\n"),
		loop.RoleCritic: strings.Count(string(calls), "critic\n"),
	}
}

// finished counts the turns in the log.
func (l *ledger) finished() map[loop.Role]int {
	count := map[loop.Role]int{}
	for _, e := range l.events() {
		switch e := e.(type) {
		case loop.ActorFinished:
			if !e.Attempt.Rejudged {
				count[loop.RoleActor]++
			}
		case loop.CriticFinished:
			count[loop.RoleCritic]++
		}
	}
	return count
}

// settle resumes the session to its end, and compares the agents' turns with the log: no finished
// turn was asked for again.
func (l *ledger) settle() {
	l.t.Helper()
	if !strings.Contains(l.log(), `"type":"session_end"`) { // otherwise the run was quicker than the signal
		cmd := l.start(true)
		_ = cmd.Wait() // the exit code is checked below
		if code := cmd.ProcessState.ExitCode(); code != command.ExitDone {
			l.t.Fatalf("resume: exit code %d\n%s", code, cmd.Stdout)
		}
	}
	acted, judged := map[int]int{}, map[int]int{}
	for _, e := range l.events() {
		switch e := e.(type) {
		case loop.ActorFinished:
			if !e.Attempt.Rejudged { // otherwise the kill came between DONE and the end of the session
				acted[e.Iteration]++
			}
		case loop.IterationFinished:
			judged[e.Round.Iteration]++
		}
	}
	for n := 1; n <= 2; n++ {
		if acted[n] != 1 || judged[n] != 1 {
			l.t.Errorf("iteration %d has %d actor turns, and was completed %d times", n, acted[n], judged[n])
		}
	}
	for role, begun := range l.begun() {
		if want := l.finished()[role] + l.cut[role]; begun != want || len(acted) != 2 {
			l.t.Errorf("the %s was asked %d times, want %d, of which %d were cut off\n%s", role, begun, want, l.cut[role], l.log())
		}
	}
}

// log returns the current text of the log.
func (l *ledger) log() string {
	logs, _ := filepath.Glob(filepath.Join(l.dir, "sessions", "*.jsonl"))
	if len(logs) == 0 {
		return ""
	}
	text, _ := os.ReadFile(logs[0])
	return string(text)
}

// forget removes the logs.
func (l *ledger) forget() {
	l.t.Helper()
	logs, _ := filepath.Glob(filepath.Join(l.dir, "sessions", "*"))
	for _, path := range logs {
		if err := os.RemoveAll(path); err != nil {
			l.t.Fatal(err)
		}
	}
}

// TestPaidOnce kills codeloops between phases, as soon as a line is in the log, and in the middle
// of every phase; after a resume no finished turn is paid for twice.
func TestPaidOnce(t *testing.T) {
	t.Parallel()
	phase := func(name string) string { return `"iteration_number":1,"state":"` + name + `"` }
	for name, line := range map[string]string{
		"begun":              `"type":"session_start"`,
		"iteration begun":    `"type":"iteration_start"`,
		"actor begun":        phase("ACTOR_EXECUTING"),
		"actor finished":     `"type":"actor_turn"`,
		"capture begun":      phase("CAPTURING_DIFF"),
		"capture finished":   `"type":"diff"`,
		"checks begun":       phase("VERIFYING"),
		"checks finished":    `"type":"checks"`,
		"critic begun":       phase("CRITIC_EVALUATING"),
		"critic finished":    `"type":"critic_turn"`,
		"iteration finished": `"type":"iteration"`,
		"second begun":       `"type":"iteration_start"*2`,
		"second acted":       `"type":"actor_turn"*2`,
		"second judged":      `"type":"critic_turn"*2`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if testing.Short() && !strings.HasSuffix(name, "or finished") && !strings.HasPrefix(name, "second") {
				t.Skip("one of a long series")
			}
			l := newLedger(t)
			cmd := l.start(false)
			line, times, _ := strings.Cut(line, "*")
			n, _ := strconv.Atoi(times)
			l.await(line, func() bool { return strings.Count(l.log(), line) >= max(1, n) })
			l.kill(cmd)
			l.settle()
		})
	}
	for _, name := range []string{"actor", "check", "critic"} {
		t.Run("in the middle: "+name, func(t *testing.T) {
			t.Parallel()
			l := newLedger(t)
			l.write("hold-"+name, "")
			cmd := l.start(false)
			l.await(name, func() bool { _, err := os.Stat(filepath.Join(l.dir, name)); return err == nil })
			l.kill(cmd)
			want := map[string]int{"actor": 1}[name] + map[string]int{"critic": 1}[name]
			if got := l.cut[loop.RoleActor] + l.cut[loop.RoleCritic]; got != want {
				t.Errorf("%d turns were cut, want %d", got, want)
			}
			l.settle()
		})
	}
	t.Run("in the middle: log", func(t *testing.T) {
		t.Parallel()
		l := newLedger(t)
		l.write("large", "")
		cmd := l.start(false)
		l.await("a large line", func() bool {
			logs, _ := filepath.Glob(filepath.Join(l.dir, "sessions", "*.jsonl"))
			if len(logs) == 0 {
				return false
			}
			st, err := os.Stat(logs[0])
			return err == nil && st.Size() > 1<<20
		})
		l.kill(cmd)
		l.settle()
	})
}

// TestPaidOnceAnywhere kills a session, and the processes that resume it, at random moments until
// it ends.
func TestPaidOnceAnywhere(t *testing.T) {
	t.Parallel()
	var kills atomic.Int64
	t.Cleanup(func() { t.Logf("%d kills", kills.Load()) })
	for i := range some(30) {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			l := newLedger(t)
			cmd := l.start(false)
			for range 5 {
				time.Sleep(time.Duration(rand.IntN(600)) * time.Millisecond)
				if strings.Contains(l.log(), `"type":"session_end"`) {
					break
				}
				l.kill(cmd)
				kills.Add(1)
				begun := strings.Contains(l.log(), `"type":"session_start"`)
				if !begun { // an empty log cannot be resumed, and the next one gets another name
					l.forget()
				}
				cmd = l.start(begun)
			}
			_ = cmd.Wait() // it has ended, or is resumed next
			l.settle()
		})
	}
}
