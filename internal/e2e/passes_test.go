//go:build unix

package e2e

import (
	"net/http"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"codeloops/internal/e2e/model"
	"codeloops/internal/loop"
)

// TestPasses: the service fails until codeloops waits, or for half a minute if the agent retries by
// itself. This costs no iteration.
func TestPasses(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]model.Fault{
		"429": {Status: http.StatusTooManyRequests, Message: "scripted limit", Header: http.Header{"Retry-After": {"1"}}},
		"529": {Status: 529, Message: "scripted overload"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, c cli) {
				if c.name == "cline" && name == "429" {
					t.Skip("the agent does not report this as a limit: the turn fails")
				}
				var passed atomic.Bool
				s := newStage(t, c, turns(func(turn) model.Answer {
					if !passed.Load() {
						return model.Answer{Fault: fault}
					}
					return model.Answer{Text: "I could work."}
				}))
				s.judge(done)
				r := s.start("greet the world")
				who := "the agent"
				go func() {
					for r.t.Context().Err() == nil && time.Since(r.began) < 30*time.Second && len(r.events.of("wait")) == 0 {
						time.Sleep(20 * time.Millisecond)
					}
					passed.Store(true)
					if len(r.events.of("wait")) > 0 {
						_ = r.cmd.Process.Signal(syscall.SIGUSR1) // retry now
					}
				}()
				e := r.wait()
				if waits := len(r.events.of("wait")); waits > 0 {
					who = "codeloops"
				}
				if e.code != 0 || len(e.actor) != 1 || len(e.rounds) != 1 || e.actor[0].Ending != loop.EndCompleted {
					t.Errorf("exit code %d, %+v, %d turns\n%s", e.code, e.result, len(e.actor), r.events.text())
				}
				table.notef(c.name, "passes: "+name, "%s waits, %.1f s", who, e.took.Seconds())
			})
		})
	}
}
