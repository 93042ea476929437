//go:build unix

package e2e

import (
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"codeloops/internal/e2e/model"
	"codeloops/internal/loop"
)

// A limit is one whose end the service states, and what an agent makes of it.
type limit struct {
	left time.Duration // until it ends, when the agent meets it
	told bool          // the agent passes the end on; else it waits for it by itself, and says nothing
	late time.Duration // what it leaves out of the end, or how long it tries again before it tells
}

// limitOf is a limit that an agent passes on, where it does: most wait by
// themselves for one that ends within the minute, or within five.
func limitOf(c cli) limit {
	const soon, later = 25 * time.Second, 10 * time.Minute
	switch c.name {
	case "claude":
		return limit{left: soon, told: true}
	case "codex":
		return limit{left: soon, told: true, late: time.Minute} // it tells the minute
	case "gemini", "copilot":
		return limit{left: later, told: true, late: 10 * time.Second} // it tells how long, not when
	case "droid", "cline":
		return limit{left: later, told: true, late: 100 * time.Second}
	}
	return limit{left: soon}
}

// subscribed is Claude Code with the token of a subscription: it says nothing
// of when a key's limit ends.
func subscribed(c cli) cli {
	if c.name != "claude" {
		return c
	}
	env := c.env
	c.env = func(url string) []string {
		all := slices.DeleteFunc(env(url), func(v string) bool { return strings.HasPrefix(v, "ANTHROPIC_API_KEY=") })
		return append(all, "CLAUDE_CODE_OAUTH_TOKEN="+madeUp)
	}
	return c
}

// TestLimitEnds has the service state the end of its limit, to the actor and to
// the critic. Where the agent passes it on, codeloops asks again then, and not
// before; in the place of ten minutes the user hurries it.
func TestLimitEnds(t *testing.T) {
	t.Parallel()
	for _, role := range []loop.Role{loop.RoleActor, loop.RoleCritic} {
		t.Run(string(role), func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, c cli) {
				if l := limitOf(c); l.told || role == loop.RoleActor {
					l.meets(t, subscribed(c), role)
				}
			})
		})
	}
}

func (l limit) meets(t *testing.T, c cli, role loop.Role) {
	t.Helper()
	var end atomic.Pointer[time.Time]
	var passed atomic.Bool
	s := newStage(t, c, turns(func(q turn) model.Answer {
		first := time.Now().Add(l.left)
		switch {
		case q.critic == (role == loop.RoleCritic) && !passed.Load() && (end.CompareAndSwap(nil, &first) || time.Now().Before(*end.Load())):
			return model.Answer{Fault: model.Fault{Until: *end.Load()}}
		case q.critic:
			return model.Answer{Text: done}
		}
		return model.Answer{Text: "I could work."}
	}))
	r := s.start("greet the world")
	if l.told && l.left > time.Minute {
		r.await("a wait", func() bool { return len(r.events.of("wait")) > 0 })
		passed.Store(true)
		r.must(r.cmd.Process.Signal(syscall.SIGUSR1)) // try again now
	}
	e := r.wait()
	if e.code != 0 || e.result.Reason != loop.StopDone || len(e.actor) != 1 || len(e.critic) != 1 || len(e.rounds) != 1 {
		t.Fatalf("exit code %d, %+v, %d turns\n%s", e.code, e.result, len(e.actor)+len(e.critic), r.events.text())
	}
	l.waited(r, role, *end.Load())
}

// waited looks at the waits of a run that a limit had held up until end.
func (l limit) waited(r *run, role loop.Role, end time.Time) {
	r.t.Helper()
	const slack = 4 * time.Second // codeloops adds three
	waits := r.events.of("wait")
	if !l.told {
		if len(waits) > 0 {
			r.t.Errorf("it passes the limit on: %+v", waits)
		}
		table.notef(r.cli.name, "limit: stated to the "+string(role), "it waits by itself, %.1f s", time.Since(r.began).Seconds())
		return
	}
	if len(waits) == 0 || len(waits) > 1 && l.late < time.Minute || waits[0].Role != string(role) {
		r.t.Fatalf("waits: %+v\n%s", waits, r.events.text())
	}
	last := waits[len(waits)-1].Until // within the minute that was told it tries again and again
	late := last.Sub(end)
	if late < 0 || late > l.late+slack {
		r.t.Errorf("codeloops waits until %s, the limit ends at %s", last, end)
	}
	table.notef(r.cli.name, "limit: stated to the "+string(role), "codeloops waits for it, and %.1f s", late.Seconds())
}
