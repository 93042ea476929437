package e2e

import (
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"codeloops/internal/e2e/model"
	"codeloops/internal/loop"
)

// The limits for an agent that is not signed in, before the fallback takes over: the time since its
// service has said so, or otherwise since its start, which can be slow on a busy machine.
const (
	authLimit  = 20 * time.Second
	authStarts = 2
)

// withDefaultRetries returns an agent with its own default number of retries; other tests reduce it.
func (c cli) withDefaultRetries() cli {
	env, files := c.env, c.files
	quick := strings.NewReplacer(`,"maxAttempts":2`, "", "request_max_retries = 1\n", "", "stream_max_retries = 1\n", "")
	if env != nil {
		c.env = func(url string) []string {
			return slices.DeleteFunc(env(url), func(v string) bool { return strings.HasPrefix(v, "CLAUDE_CODE_MAX_RETRIES=") })
		}
	}
	if files != nil {
		c.files = func(url string) map[string]string {
			all := files(url)
			for name, text := range all {
				all[name] = quick.Replace(text)
			}
			return all
		}
	}
	return c
}

// keyless returns an agent in a home without any login. ok is false for agents that cannot tell
// without a network.
func (c cli) keyless() (_ cli, ok bool) {
	c.model, c.files, c.env = "", nil, nil
	switch c.name {
	case "claude":
		c.env = func(string) []string { return []string{"IS_SANDBOX=1", "DISABLE_AUTOUPDATER=1"} }
	case "copilot":
		c.env = func(string) []string { return []string{"COPILOT_AUTO_UPDATE=false"} }
	case "pi":
		c.env = func(string) []string { return []string{"PI_OFFLINE=1", "PI_TELEMETRY=0"} }
	}
	return c, slices.Contains([]string{"claude", "copilot", "droid", "gemini", "pi", "qwen"}, c.name)
}

// TestKeyIsRefused: a service that rejects the key ends the run, or makes the fallback take over in
// the same iteration, soon and with few starts.
func TestKeyIsRefused(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c cli) { signsIn(t, c.withDefaultRetries(), "key refused") })
}

// TestNobodySignedIn: the same without any key.
func TestNobodySignedIn(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c cli) {
		c, ok := c.keyless()
		if !ok {
			t.Skip("the agent asks its service, which cannot be reached here")
		}
		signsIn(t, c, "no key")
	})
}

func signsIn(t *testing.T, c cli, column string) {
	t.Helper()
	s, since := refusing(t, c)
	s.conf += "[agents.stand-in]\ncommand = [\"/bin/sh\", \"-c\", \"cat >/dev/null; echo hello >" + greeting + "; echo greeted\"]\n"
	r := s.start("--fallback", "stand-in", "-n", "1", "greet the world")
	e := r.wait()
	if e.code != 0 || len(e.actor) != 1 || len(e.rounds) != 1 || e.actor[0].Agent.Agent != "stand-in" {
		t.Fatalf("the fallback did not take over: exit code %d, %+v", e.code, e.actor)
	}
	misses := e.actor[0].Misses
	last, took := misses[len(misses)-1], since(r, e)
	if last.Ending != loop.EndAuth || len(misses) > authStarts || took > authLimit {
		t.Errorf("%d starts, %.1f s: %+v", len(misses), took.Seconds(), misses)
	}
	table.notef(c.name, "fault: "+column, "%s, %d starts, %.1f of %.1f s", last.Ending, len(misses), took.Seconds(), e.took.Seconds())
	table.notef(c.name, "reason: "+column, "%.160s", last.Reason)

	s, since = refusing(t, c)
	r = s.start("-n", "1", "greet the world")
	e = r.wait()
	if e.code != 2 || e.result.Reason != loop.StopAgentAuth || since(r, e) > authLimit {
		t.Errorf("alone: exit code %d, %+v, %.1f s", e.code, e.result, since(r, e).Seconds())
	}
}

// refusing returns a stage whose service rejects the key, and a function that measures how long a
// run went on after the first rejection.
func refusing(t *testing.T, c cli) (s *stage, since func(*run, end) time.Duration) {
	t.Helper()
	var said atomic.Pointer[time.Time]
	s = newStage(t, c, func(model.Request) model.Answer {
		now := time.Now()
		said.CompareAndSwap(nil, &now)
		return model.Answer{Fault: model.Fault{Status: http.StatusUnauthorized, Message: "scripted fault"}}
	})
	s.judge(done)
	return s, func(r *run, e end) time.Duration {
		if at := said.Load(); at != nil {
			return r.began.Add(e.took).Sub(*at)
		}
		return e.took
	}
}

// TestSilentLimit: an agent that has reported a limit and then waits silently for its end is
// stopped as rate limited.
func TestSilentLimit(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c cli) {
		if c.name != "codex" {
			t.Skip("the agent reports no limit, or ends by itself")
		}
		limited := model.Fault{Status: http.StatusTooManyRequests, Message: "scripted limit", Header: http.Header{"Retry-After": {"3600"}}}
		s := newStage(t, c.withDefaultRetries(), turns(func(turn) model.Answer { return model.Answer{Fault: limited} }))
		s.judge(done)
		s.conf = "[actor]\nidle_timeout = \"20s\"\n" + s.conf
		e := s.start("--no-wait", "-n", "1", "greet the world").wait()
		if e.code != 2 || e.result.Reason != loop.StopAgentRateLimited || e.actor[0].Ending != loop.EndRateLimited {
			t.Errorf("exit code %d, %+v, %s", e.code, e.result, e.actor[0].Ending)
		}
		table.notef(c.name, "limit: in silence", "%s, %.0f s: %.80s", e.actor[0].Ending, e.took.Seconds(), e.actor[0].Reason)
	})
}
