package e2e

import (
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"codeloops/internal/agent"
	"codeloops/internal/e2e/model"
	"codeloops/internal/loop"
)

// TestCriticFaults: if the critic's model fails after a good actor turn, codeloops says why and
// ends; resumed with a working service, it does not repeat the actor's turn.
func TestCriticFaults(t *testing.T) {
	t.Parallel()
	many := []string{"claude", "codex", "opencode", "gemini", "pi", "qwen"}
	for _, trouble := range troubles() {
		everybody := trouble.name == "401" || trouble.name == "hang"
		if !everybody && !slices.Contains([]string{"429", "500", "cut", "empty"}, trouble.name) {
			continue
		}
		t.Run(trouble.name, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, c cli) {
				if everybody || slices.Contains(many, c.name) {
					trouble.meetsCritic(t, c)
				}
			})
		})
	}
}

func (f trouble) meetsCritic(t *testing.T, c cli) {
	t.Helper()
	var passed atomic.Bool
	var worked atomic.Int32 // how often the actor's first turn was asked for
	s := newStage(t, c, turns(func(q turn) model.Answer {
		switch {
		case !q.critic:
			if q.iteration == 1 {
				worked.Add(1)
			}
			return model.Answer{Text: "I have greeted the world."}
		case passed.Load():
			return model.Answer{Text: done}
		case f.empty:
			return model.Answer{}
		}
		return model.Answer{Text: "I begin, and I come to an end.", Fault: f.fault}
	}))
	s.conf = "max_consecutive_errors = 1\ncritic_retries = 0\n[critic]\nidle_timeout = \"" + f.idle(c).String() + "\"\n"
	r := s.start("--no-wait", "-n", "3", "--critic-timeout", turnLimit.String(), "greet the world")
	e := r.wait()
	f.stops(r, e)
	paid := worked.Load()
	passed.Store(true)
	r = s.carryOn()
	e = r.wait()
	turns := 2 // the iteration ended in an error: the next one follows
	if reason := criticEnds(f.wants(c)); reason == loop.StopAgentAuth || reason == loop.StopAgentRateLimited {
		turns = 1 // only the critic is asked again
	}
	if e.code != 0 || e.result.Reason != loop.StopDone || len(e.actor) != turns || worked.Load() != paid {
		t.Errorf("resume: exit code %d, %+v, %d actor turns, the first one asked for %d times, want 0, %d and %d\n%s",
			e.code, e.result, len(e.actor), worked.Load(), turns, paid, r.events.text())
	}
}

// stops checks the end of a run with a good actor turn and a bad critic turn.
func (f trouble) stops(r *run, e end) {
	r.t.Helper()
	want := f.wants(r.cli)
	reason := criticEnds(want)
	if e.code != 2 || e.result.Reason != reason || len(e.actor) != 1 || e.actor[0].Ending != loop.EndCompleted {
		r.t.Fatalf("stop reason %q, exit code %d, %d actor turns, want %q, 2 and one\n%s",
			e.result.Reason, e.code, len(e.actor), reason, r.events.text())
	}
	if len(e.critic) > 0 && e.critic[0].Ending != want {
		r.t.Errorf("the critic's turn ended %s (%s), want %s", e.critic[0].Ending, e.critic[0].Reason, want)
	}
	table.notef(r.cli.name, "critic: "+f.name, "%s, %.0f s", reason, e.took.Seconds())
}

// criticEnds returns how a run ends after one critic turn with a bad ending.
func criticEnds(e loop.Ending) loop.StopReason {
	switch e {
	case loop.EndAuth:
		return loop.StopAgentAuth
	case loop.EndRateLimited:
		return loop.StopAgentRateLimited
	case loop.EndTimedOut, loop.EndIdle:
		return loop.StopCriticTimeout
	case loop.EndCompleted, loop.EndEmpty, loop.EndFailed, loop.EndOutputLimit, loop.EndInterrupted, loop.EndPermissionDenied,
		loop.EndOverloaded, loop.EndContextTooLong, loop.EndSpinning, loop.EndOutOfCredit:
	}
	return loop.StopNoDecision
}

// TestCriticTests: a critic can run commands like those of tests, with redirections; in a view with every agent, and
// without the right to write where the catalogue says so.
func TestCriticTests(t *testing.T) {
	t.Parallel()
	for _, access := range []string{"full", "read-only"} {
		t.Run(access, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, c cli) { criticTests(t, c, access) })
		})
	}
}

func criticTests(t *testing.T, c cli, access string) {
	t.Helper()
	spec, err := agent.Find(c.name)
	if err != nil {
		t.Fatal(err)
	}
	var edits atomic.Bool
	s := newStage(t, c, turns(func(q turn) model.Answer {
		if !q.critic {
			return model.Answer{Text: "I have greeted the world."}
		}
		if _, can := q.Write("x", "x"); can {
			edits.Store(true)
		}
		if len(q.results) == 0 {
			call, _ := q.Run("sh test.sh >/dev/null 2>&1 && echo passed-$?")
			return model.Answer{Text: "I test it.", Call: &call}
		}
		if strings.Contains(q.results[len(q.results)-1], "passed-0") {
			return model.Answer{Text: done}
		}
		return model.Answer{Text: goOn}
	}))
	s.write("work/test.sh", "test -f README.md\n")
	e := s.start("-n", "1", "--critic-access", access, "greet the world").wait()
	if ran := e.code == 0; ran != (access == "full" || spec.CanOnly == "") {
		t.Errorf("a critic can run tests: %t; without the right to write it can only %q", ran, spec.CanOnly)
	}
	table.notef(c.name, "critic: tests, "+access, "run: %t, offered to write: %t", e.code == 0, edits.Load())
}

// TestCriticReadOnly: a critic that may not write and gets its prompt as a request cannot use a tool
// that writes, and can run commands.
func TestCriticReadOnly(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c cli) {
		if spec, err := agent.Find(c.name); err != nil || spec.Talk.Output == "" {
			t.Skip("the agent gets its prompts in one way only")
		}
		var s *stage
		s = newStage(t, c, turns(func(q turn) model.Answer {
			write, can := q.Write(filepath.Join(s.work, "written.txt"), "x")
			switch {
			case len(q.results) == 0:
				return use(q.Run("cat README.md 2>/dev/null"))
			case len(q.results) == 1 && can:
				return use(write, can)
			case strings.Contains(q.results[0], "A repository to work in."):
				return model.Answer{Text: done}
			}
			return model.Answer{Text: goOn}
		}))
		s.employ("echo hello >" + greeting)
		r := s.start("-n", "1", "--critic-view", "tree", "--critic-access", "read-only", "greet the world @README.md")
		if e := r.wait(); e.code != 0 || r.reached("written.txt") {
			t.Errorf("exit code %d, written: %t\n%s", e.code, r.reached("written.txt"), r.events.text())
		}
	})
}

// TestCriticInterrupted: a run that is interrupted during the critic's tool call is resumed without
// repeating the actor's turn.
func TestCriticInterrupted(t *testing.T) {
	t.Parallel()
	const endless = "tail -f README.md" // read-only, because Kilo lets its critic run nothing else
	for name, way := range map[string]struct {
		signal syscall.Signal
		code   int
	}{"int": {syscall.SIGINT, 130}, "kill": {syscall.SIGKILL, -1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, c cli) {
				var passed atomic.Bool
				var worked atomic.Int32
				s := newStage(t, c, turns(func(q turn) model.Answer {
					switch {
					case !q.critic:
						worked.Add(1)
						return model.Answer{Text: "I have greeted the world."}
					case passed.Load():
						return model.Answer{Text: done}
					}
					return use(q.Run(endless))
				}))
				r := s.start("greet the world")
				r.await("the critic's tool", func() bool { return strings.Contains(strings.Join(living(s.key), "\n"), endless) })
				r.interrupt(way.signal)
				e := r.wait()
				if e.code != way.code || len(e.actor) != 1 || e.actor[0].Ending != loop.EndCompleted {
					t.Fatalf("exit code %d, %d actor turns, want %d and one\n%s", e.code, len(e.actor), way.code, r.events.text())
				}
				table.notef(c.name, "end: "+name+" in the critic's tool", "gone in %.2f s", e.alive.Seconds())
				paid := worked.Load()
				passed.Store(true)
				r = s.carryOn()
				if e = r.wait(); e.code != 0 || e.result.Reason != loop.StopDone || len(e.actor) != 1 || worked.Load() != paid {
					t.Errorf("resume: exit code %d, %+v, %d actor turns, asked for %d times, want 0, one and %d\n%s",
						e.code, e.result, len(e.actor), worked.Load(), paid, r.events.text())
				}
			})
		})
	}
}

// TestCriticLong: a critic may write 200 kB before it decides.
func TestCriticLong(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c cli) {
		review := numbered("review", 200<<10)
		s := newStage(t, c, turns(func(q turn) model.Answer {
			if q.critic {
				return model.Answer{Text: review + "\n\n" + done}
			}
			return model.Answer{Text: "I have greeted the world."}
		}))
		r := s.start("-n", "1", "greet the world")
		e := r.wait()
		if e.code != 0 || e.result.Reason != loop.StopDone || len(e.rounds) != 1 {
			t.Fatalf("exit code %d, %+v\n%s", e.code, e.result, r.events.text())
		}
		if got := e.critic[0].Stdout; got.Omitted != 0 || !strings.Contains(e.rounds[0].Review.Reply, review) {
			t.Errorf("of a review of %d bytes %d arrived, %d were left out", len(review), got.Total, got.Omitted)
		}
		table.notef(c.name, "critic: 200 kB", "%.1f s", e.took.Seconds())
	})
}
