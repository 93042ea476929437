package strategy_test

import (
	"strings"
	"testing"

	"codeloops/internal/loop"
	"codeloops/internal/strategy"
)

// TestEscalation: if the critic asks for a person, the run ends, whichever strategy drives the
// base. The work stays in its fork and goes on there when the session is resumed.
func TestEscalation(t *testing.T) {
	t.Parallel()
	reflexion := strategy.Reflexion{Base: strategy.ActorCritic{}, MaxAttempts: 2, Threshold: 0.8, Reset: true}
	inPlace := reflexion
	inPlace.Reset = false
	plan := strategy.PlanAndExecute{Base: strategy.ActorCritic{}, MaxSteps: 3, StepRounds: 3, MaxReplans: 1}
	over := reflexion
	over.Base = plan
	for name, c := range map[string]struct {
		strategy loop.Strategy
		at       string // the fork
		tree     string // at the end
	}{
		"reflexion":           {reflexion, "attempt_1", "1.actor 2.actor"},
		"reflexion in place":  {inPlace, "", "1.actor 2.actor"},
		"plan-and-execute":    {plan, "work", "1.actor 2.actor 3.actor"},
		"reflexion over plan": {over, "attempt_1.work", "1.actor 2.actor 3.actor"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			say("plan_1.planner", twoSteps, "attempt_1.plan_1.planner", twoSteps, "attempt_1.evaluator", "score: 0.9")(w)
			w.person = "1.critic"
			out, err := w.loop(c.strategy).Run(t.Context(), loop.Session{ID: "s", Prompt: "do it"})
			if err != nil || out.Reason != loop.StopPolicyEscalation || out.Summary != "who knows?" || out.Cause != c.at || out.Iterations != 1 {
				t.Fatalf("%+v, %v\n%v", out, err, w.notes)
			}
			out, err = w.loop(c.strategy).Resume(t.Context(), loop.Session{ID: "s", Prompt: "do it"}, w.journal.Clone())
			got := strings.Join(w.trees[""], " ")
			if err != nil || out.Reason != loop.StopDone || got != c.tree || len(w.trees) != 1 || len(w.twice) > 0 {
				t.Errorf("resumed: %+v, %v; the tree has %q; repeated: %v\n%v", out, err, got, w.twice, w.notes)
			}
		})
	}
}
