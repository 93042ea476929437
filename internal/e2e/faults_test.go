package e2e

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"codeloops/internal/e2e/model"
	"codeloops/internal/loop"
)

// A trouble is a fault of a model's service, as the agent experiences it.
type trouble struct {
	name  string
	fault model.Fault
	empty bool // the answer has no text
	gone  bool // nothing listens at the address
	// ending is the expected end of the turn. others has the agents that see it differently, for
	// reasons in docs/adding-agents.md; those with EndIdle silently retry for longer than the test
	// waits.
	ending loop.Ending
	others map[string]loop.Ending
}

func troubles() []trouble {
	status := func(code int, message string) model.Fault {
		return model.Fault{Status: code, Message: message}
	}
	limited := status(http.StatusTooManyRequests, "scripted limit")
	limited.Header = http.Header{"Retry-After": {"1"}}
	return []trouble{
		{name: "401", fault: status(http.StatusUnauthorized, "scripted fault"), ending: loop.EndAuth},
		{name: "400", fault: status(http.StatusBadRequest, "scripted fault"), ending: loop.EndFailed},
		{name: "404", fault: status(http.StatusNotFound, "scripted fault"), ending: loop.EndFailed},
		{
			name: "too long", fault: model.Fault{TooLong: true}, ending: loop.EndContextTooLong,
			// These shorten the conversation and continue, but exit with 1.
			others: map[string]loop.Ending{"opencode": loop.EndFailed, "kilo": loop.EndFailed},
		},
		{
			name: "429", fault: limited, ending: loop.EndRateLimited,
			others: map[string]loop.Ending{
				"qwen":  loop.EndIdle,
				"cline": loop.EndFailed, // it does not report the status
			},
		},
		{
			name: "500", fault: status(http.StatusInternalServerError, "scripted fault"), ending: loop.EndOverloaded,
			others: map[string]loop.Ending{"droid": loop.EndIdle, "cline": loop.EndFailed},
		},
		{
			name: "529", fault: status(529, "scripted overload"), ending: loop.EndOverloaded,
			others: map[string]loop.Ending{"droid": loop.EndIdle, "cline": loop.EndFailed},
		},
		{name: "cut", fault: model.Fault{Cut: true}, ending: loop.EndOverloaded},
		{
			name: "event", fault: model.Fault{Event: true, Message: "scripted error event"}, ending: loop.EndFailed,
			others: map[string]loop.Ending{
				"claude": loop.EndCompleted, // it asks again, without streaming
				"codex":  loop.EndOverloaded, "copilot": loop.EndOverloaded, "opencode": loop.EndOverloaded, "kilo": loop.EndOverloaded,
			},
		},
		{
			name: "empty", empty: true, ending: loop.EndEmpty,
			// cn does not report it; the others take it for a fault.
			others: map[string]loop.Ending{
				"cn": loop.EndCompleted, "copilot": loop.EndFailed, "qwen": loop.EndFailed, "cline": loop.EndFailed,
				"kilo": loop.EndFailed,
			},
		},
		{name: "hang", fault: model.Fault{Hang: true}, ending: loop.EndIdle},
		{
			name: "refused", gone: true, ending: loop.EndOverloaded,
			others: map[string]loop.Ending{"codex": loop.EndIdle, "kilo": loop.EndIdle},
		},
	}
}

// The time within which an agent must report its problem, or codeloops stops it. Some retry for two
// minutes first, and on a busy machine need as long to start.
const (
	turnLimit = 8 * time.Minute
	idleLimit = 45 * time.Second // if nothing else ends the turn
	slowLimit = 90 * time.Second // for agents that take half of it to start
)

// TestFaults: if the actor's model fails in any way, codeloops says why and ends. The actor has
// written nothing, and the critic wants more.
func TestFaults(t *testing.T) {
	t.Parallel()
	for _, trouble := range troubles() {
		t.Run(trouble.name, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, c cli) { trouble.meets(t, c) })
		})
	}
}

func (f trouble) meets(t *testing.T, c cli) {
	t.Helper()
	s := newStage(t, c, turns(func(turn) model.Answer {
		if f.empty {
			return model.Answer{}
		}
		return model.Answer{Text: "I begin, and I come to an end.", Fault: f.fault}
	}))
	if f.gone {
		s.url = "http://127.0.0.1:9/k/" + s.key // the discard service, which does not run anywhere
		s.configure()
	}
	s.judge(goOn)
	want := f.wants(c)
	s.conf = "max_consecutive_errors = 1\n[actor]\nidle_timeout = \"" + f.idle(c).String() + "\"\n" + s.conf
	r := s.start("--no-wait", "-n", "1", "--actor-timeout", turnLimit.String(), "greet the world")
	e := r.wait()
	if len(e.actor) != 1 {
		t.Fatalf("%d turns\n%s", len(e.actor), r.events.text())
	}
	turn := e.actor[0]
	if turn.Ending != want {
		t.Errorf("the turn ended %s, want %s: %s\nproblems: %+v", turn.Ending, want, turn.Reason, r.events.of("problem"))
	}
	reason, code := ends(turn.Ending)
	if n := len(turn.Misses); n > 0 && turn.Ending == loop.EndFailed && turn.Misses[n-1].Reason == turn.Reason {
		reason, code = loop.StopActorFailed, 2 // an agent that does not say who answered was asked twice
	}
	if e.result.Reason != reason || e.code != code {
		t.Errorf("stop reason %q, exit code %d, want %q and %d", e.result.Reason, e.code, reason, code)
	}
	if turn.Ending != loop.EndCompleted && turn.Ending != loop.EndEmpty && !turn.Ending.Cut() && turn.Reason == "" {
		t.Errorf("the turn has no reason")
	}
	if strings.Contains(turn.Reason, string(filepath.Separator)+"node_modules") {
		t.Errorf("the reason is a stack trace: %q", turn.Reason)
	}
	table.notef(c.name, "fault: "+f.name, "%s, %.0f s", turn.Ending, turn.Duration.Seconds())
	table.notef(c.name, "reason: "+f.name, "%.60s", turn.Reason)
}

// wants returns the expected end of the turn with an agent.
func (f trouble) wants(c cli) loop.Ending {
	if other, ok := f.others[c.name]; ok {
		return other
	}
	return f.ending
}

// idle returns how long the agent may be silent.
func (f trouble) idle(c cli) time.Duration {
	switch {
	case f.wants(c) != loop.EndIdle:
		return turnLimit
	case c.name == "kilo":
		return slowLimit
	}
	return idleLimit
}

// ends returns how a run ends after one actor turn with the given ending, and a critic that wants
// more.
func ends(e loop.Ending) (loop.StopReason, int) {
	switch e {
	case loop.EndAuth:
		return loop.StopAgentAuth, 2
	case loop.EndRateLimited:
		return loop.StopAgentRateLimited, 2
	case loop.EndOutOfCredit:
		return loop.StopAgentOutOfCredit, 2
	case loop.EndTimedOut, loop.EndIdle, loop.EndSpinning:
		return loop.StopActorTimeout, 2
	case loop.EndOverloaded, loop.EndContextTooLong:
		return loop.StopConsecutiveErrors, 2
	case loop.EndCompleted, loop.EndEmpty, loop.EndFailed, loop.EndOutputLimit, loop.EndInterrupted, loop.EndPermissionDenied:
	}
	return loop.StopMaxIterations, 1
}
