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

// A limit has an end that the service states; the fields say how the agent handles it.
type limit struct {
	left time.Duration // the time until it ends, when the agent meets it
	told bool          // the agent reports the end; otherwise it waits silently by itself
	late time.Duration // the inaccuracy of the reported end, or how long the agent retries before it reports
}

// limitOf returns a limit that the agent reports, if it ever does: most wait silently for limits
// that end within a minute, or within five.
func limitOf(c cli) limit {
	const soon, later = 25 * time.Second, 10 * time.Minute
	switch c.name {
	case "claude", "pi": // pi asks again three times, and then reports it
		return limit{left: soon, told: true}
	case "codex":
		return limit{left: soon, told: true, late: time.Minute} // it reports the end to the minute
	case "gemini", "copilot":
		return limit{left: later, told: true, late: 10 * time.Second} // it reports the remaining time, not the end
	case "droid", "cline":
		return limit{left: later, told: true, late: 100 * time.Second}
	}
	return limit{left: soon}
}

// subscribed is Claude Code with a subscription's token: with an API key it does not report when a
// limit ends.
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

// TestLimitEnds: the service states the end of its limit to the actor and to the critic. If the
// agent reports it, codeloops retries then and not before; limits of ten minutes are cut short by
// the user.
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
		r.must(r.cmd.Process.Signal(syscall.SIGUSR1)) // retry now
	}
	e := r.wait()
	if e.code != 0 || e.result.Reason != loop.StopDone || len(e.actor) != 1 || len(e.critic) != 1 || len(e.rounds) != 1 {
		t.Fatalf("exit code %d, %+v, %d turns\n%s", e.code, e.result, len(e.actor)+len(e.critic), r.events.text())
	}
	l.waited(r, role, *end.Load())
}

// waited checks the waits of a run that was rate limited until end.
func (l limit) waited(r *run, role loop.Role, end time.Time) {
	r.t.Helper()
	const slack = 4 * time.Second // codeloops adds three
	waits := r.events.of("wait")
	if !l.told {
		if len(waits) > 0 {
			r.t.Errorf("the agent reported the limit: %+v", waits)
		}
		table.notef(r.cli.name, "limit: stated to the "+string(role), "it waits by itself, %.1f s", time.Since(r.began).Seconds())
		return
	}
	if len(waits) == 0 || len(waits) > 1 && l.late < time.Minute || waits[0].Role != string(role) {
		r.t.Fatalf("waits: %+v\n%s", waits, r.events.text())
	}
	last := waits[len(waits)-1].Until // within the reported minute it retries several times
	late := last.Sub(end)
	if late < 0 || late > l.late+slack {
		r.t.Errorf("codeloops waits until %s, the limit ends at %s", last, end)
	}
	table.notef(r.cli.name, "limit: stated to the "+string(role), "codeloops waits for it, and %.1f s", late.Seconds())
}
