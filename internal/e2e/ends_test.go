package e2e

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"codeloops/internal/e2e/model"
	"codeloops/internal/loop"
	"codeloops/internal/proc"
)

// napping makes the actor run a command that outlasts the test, again and again: codex waits ten
// seconds for a command and then asks its model what to do.
func napping(work *string) model.Script {
	return turns(func(q turn) model.Answer {
		in := quoted(filepath.Join(*work, "in-tool"))
		return use(q.Run("touch " + in + "; sh -c 'sleep 600; true'"))
	})
}

// TestInterrupted: every kind of interruption during the actor's tool call ends the run.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	for name, way := range map[string]struct {
		signals []syscall.Signal
		code    int
		longest time.Duration
	}{
		"int":   {[]syscall.Signal{syscall.SIGINT}, 130, soon},
		"twice": {[]syscall.Signal{syscall.SIGINT, syscall.SIGINT}, 130, proc.DefaultGrace},
		"term":  {[]syscall.Signal{syscall.SIGTERM}, 130, soon},
		"kill":  {[]syscall.Signal{syscall.SIGKILL}, -1, soon},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, c cli) {
				var work string
				s := newStage(t, c, napping(&work))
				work = s.work
				s.judge(goOn)
				r := s.start("greet the world")
				r.awaitFile("in-tool")
				began := time.Now()
				r.interrupt(way.signals...)
				e := r.wait()
				took := e.took - began.Sub(r.began)
				if e.code != way.code || took > way.longest {
					t.Errorf("exit code %d after %.1f s, want %d within %s", e.code, took.Seconds(), way.code, way.longest)
				}
				if way.code == 130 && (e.result.Reason != loop.StopInterrupted || len(e.actor) != 1 || e.actor[0].Ending != loop.EndInterrupted) {
					t.Errorf("%+v, %d turns\n%s", e.result, len(e.actor), r.events.text())
				}
				table.notef(c.name, "end: "+name, "%.1f s, gone in %.2f s", took.Seconds(), e.alive.Seconds())
			})
		})
	}
}

// TestTimeout: a turn that times out during the actor's tool call is ended, and the critic follows.
func TestTimeout(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c cli) {
		limit := 30 * time.Second
		if c.name == "kilo" || c.name == "opencode" || c.name == "qwen" { // they start slowly
			limit = slowLimit
		}
		r, e := timesOut(t, c, limit)
		for ; !r.reached("in-tool") && limit < patience/3; r, e = timesOut(t, c, limit) {
			limit *= 3 // it had not started
		}
		if !r.reached("in-tool") || len(e.actor) != 1 || e.actor[0].Ending != loop.EndTimedOut || e.result.Reason != loop.StopActorTimeout || e.code != 2 {
			t.Errorf("exit code %d, %+v, %d turns\n%s", e.code, e.result, len(e.actor), r.events.text())
		}
		table.notef(c.name, "end: time limit", "+%.1f s, gone in %.2f s", (e.took - limit).Seconds(), e.alive.Seconds())
	})
}

// timesOut runs an actor that does not end.
func timesOut(t *testing.T, c cli, limit time.Duration) (*run, end) {
	t.Helper()
	var work string
	s := newStage(t, c, napping(&work))
	work = s.work
	s.judge(goOn)
	s.conf = "max_consecutive_errors = 1\n" + s.conf
	r := s.start("--actor-timeout", limit.String(), "greet the world")
	return r, r.wait()
}

// TestLeftRunning: a process that the actor starts and does not wait for does not prolong the turn;
// it is reported and ended.
func TestLeftRunning(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c cli) {
		s := newStage(t, c, turns(func(q turn) model.Answer {
			if len(q.results) > 0 {
				return model.Answer{Text: "I am done."}
			}
			return use(q.Run("nohup sh -c 'sleep 613; true' >/dev/null 2>&1 </dev/null & echo started"))
		}))
		s.judge(done)
		r := s.start("greet the world")
		e := r.wait()
		if len(e.actor) != 1 || e.actor[0].Ending != loop.EndCompleted || e.code != 0 {
			t.Fatalf("exit code %d, %+v\n%s", e.code, e.result, r.events.text())
		}
		var left []string
		for _, p := range e.actor[0].Leftovers {
			left = append(left, p.Command)
		}
		// An agent may end the process itself, as codex does.
		table.notef(c.name, "end: left running", "%.1f s, %d told", e.took.Seconds(), strings.Count(strings.Join(left, "\n"), "613"))
	})
}
