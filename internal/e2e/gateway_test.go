package e2e

import (
	"testing"

	"codeloops/internal/e2e/model"
	"codeloops/internal/loop"
)

// TestGateway runs Claude Code as claude-gateway, with the scripted model as its gateway.
func TestGateway(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c cli) {
		if c.name != "claude" {
			t.Skip("only for claude")
		}
		s := newStage(t, c, turns(func(q turn) model.Answer {
			if q.critic {
				return model.Answer{Text: done}
			}
			return model.Answer{Text: "There is nothing to do."}
		}))
		s.cli.name = "claude-gateway"
		r := s.start("greet the world")
		e := r.wait()
		if e.code != 0 || e.result.Reason != loop.StopDone || len(e.actor) != 1 || e.actor[0].Agent.Agent != "claude-gateway" {
			t.Fatalf("exit code %d, %+v\n%s", e.code, e.result, r.events.text())
		}
	})
}
