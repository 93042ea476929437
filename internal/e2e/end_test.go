package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/session"
)

// An end is the outcome of a run of codeloops.
type end struct {
	code   int // -1: killed
	took   time.Duration
	alive  time.Duration // how long any of its processes survived it
	result result        // the document that it printed, if any
	actor  []loop.Turn   // the logged turns, in order
	critic []loop.Turn
	turns  []loop.Turn // of a strategy's own roles
	rounds []loop.Round
	warned []string
}

// A result is the part of a run's JSON document that the tests read.
type result struct {
	Reason  loop.StopReason `json:"stop_reason"`
	Summary string          `json:"summary"`
	Error   json.RawMessage `json:"error"`
}

// soon is the time within which everything that was told to end has ended, even on a busy machine;
// it is far below the ten minutes that the agents' tools take.
const soon = 3 * time.Minute

// wait waits for the end and checks what holds for every end: no process survives, the log is
// complete, and it contains no key.
func (r *run) wait() end {
	r.t.Helper()
	var e end
	select {
	case <-r.ended:
	case <-time.After(patience):
		r.t.Fatalf("the run does not end\n%s", r.events.text())
	}
	e.took, e.code = time.Since(r.began), r.cmd.ProcessState.ExitCode()
	e.alive = r.awaitProcesses()
	out, err := os.ReadFile(filepath.Join(r.dir, "stdout"))
	r.must(err)
	if len(out) > 0 {
		r.must(json.Unmarshal(out, &e.result))
	}
	r.readLog(&e)
	if e.code >= 0 {
		r.replays()
	}
	r.keep()
	return e
}

// awaitProcesses waits for the last process of the run.
func (r *run) awaitProcesses() time.Duration {
	r.t.Helper()
	began := time.Now()
	for {
		left := living(r.key)
		took := time.Since(began)
		if len(left) == 0 {
			return took
		}
		if took > soon {
			r.t.Errorf("still running %.1f s after the end:\n%s", took.Seconds(), strings.Join(left, "\n"))
			killAll(r.key)
			return took
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func (r *run) log() string {
	logs, err := filepath.Glob(filepath.Join(r.dir, "sessions", "*.jsonl"))
	r.must(err)
	if len(logs) != 1 {
		return ""
	}
	return logs[0]
}

func (r *run) readLog(e *end) {
	r.t.Helper()
	path := r.log()
	if path == "" {
		r.t.Errorf("there is not exactly one session log\n%s", r.events.text())
		return
	}
	data, err := os.ReadFile(path)
	r.must(err)
	if strings.Contains(string(data), madeUp) {
		r.t.Error("the key is in the session log")
	}
	for entry, err := range session.Read(path) {
		if err != nil {
			r.t.Errorf("the session log: %v", err)
			continue
		}
		switch event := entry.Event.(type) {
		case loop.ActorFinished:
			e.actor = append(e.actor, event.Attempt.Turn)
		case loop.CriticFinished:
			e.critic = append(e.critic, event.Review.Turn)
		case loop.TurnFinished:
			e.turns = append(e.turns, event.Reply.Turn)
		case loop.IterationFinished:
			e.rounds = append(e.rounds, event.Round)
		case loop.Warned:
			e.warned = append(e.warned, event.Text)
		}
	}
}

// replays verifies the log with the user's own command.
func (r *run) replays() {
	r.t.Helper()
	cmd := exec.Command(os.Getenv(binaryVar), "replay", "--verify", r.log())
	cmd.Dir, cmd.Env = r.work, r.env()
	if out, err := cmd.CombinedOutput(); err != nil {
		r.t.Errorf("replay --verify: %v\n%s", err, out)
	}
}

// keep saves the events of codeloops if E2E_TRACE names a directory.
func (r *run) keep() {
	dir := os.Getenv(traceVar)
	if dir == "" {
		return
	}
	_ = os.WriteFile(filepath.Join(dir, r.key+".events"), []byte(r.events.text()), 0o600) // best effort
}

// living lists the processes that have a key in their environment or command line.
func living(key string) []string {
	var all []string
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil || pid == os.Getpid() || !holds(dir, key) {
			continue
		}
		stat, err := os.ReadFile(filepath.Join(dir, "stat"))
		if err != nil || strings.Contains(string(stat), ") Z ") {
			continue // a zombie
		}
		command, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		all = append(all, fmt.Sprintf("%d %.200s", pid, strings.ReplaceAll(string(command), "\x00", " ")))
	}
	return all
}

func holds(dir, key string) bool {
	for _, name := range []string{"environ", "cmdline"} {
		if data, err := os.ReadFile(filepath.Join(dir, name)); err == nil && strings.Contains(string(data), key) {
			return true
		}
	}
	cwd, err := os.Readlink(filepath.Join(dir, "cwd"))
	return err == nil && strings.Contains(cwd, key)
}

func killAll(key string) {
	for _, line := range living(key) {
		pid, _, _ := strings.Cut(line, " ")
		if n, err := strconv.Atoi(pid); err == nil {
			if p, err := os.FindProcess(n); err == nil {
				_ = p.Kill() // it may be gone already
			}
		}
	}
}

// interrupt sends signals, one after the other.
func (r *run) interrupt(signals ...syscall.Signal) {
	r.t.Helper()
	for i, sig := range signals {
		if i > 0 {
			time.Sleep(200 * time.Millisecond) // so that two are not merged into one
		}
		if err := r.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
			r.t.Fatal(err)
		}
	}
}
