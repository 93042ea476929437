package strategy_test

import (
	"maps"
	"regexp"
	"strings"
	"testing"

	"codeloops/internal/loop"
	"codeloops/internal/strategy"
)

// below repeats all replies of a world below the given steps.
func (w *world) below(steps ...string) {
	for step, says := range maps.Clone(w.replies) {
		for _, whole := range steps {
			w.replies[loop.Step(whole).Sub(string(step))] = says
		}
	}
}

// ownTurn matches a turn in a tree that does not belong to an iteration.
var ownTurn = regexp.MustCompile(`(^| )([a-z])`)

// under returns a tree as if all its turns ran below a step.
func under(step, tree string) string { return ownTurn.ReplaceAllString(tree, "${1}"+step+".${2}") }

// TestBases: reflexion and self-refine can drive any other strategy repeatedly, in all courses that
// end in DONE.
func TestBases(t *testing.T) {
	t.Parallel()
	for name, c := range courses(t) {
		w := newWorld()
		if c.world != nil {
			c.world(w)
		}
		if c.reason != loop.StopDone {
			continue
		}
		set := func(more func(*world)) func(*world) {
			return func(w *world) {
				if c.world != nil {
					c.world(w)
				}
				more(w)
			}
		}
		often := w.done == "" && w.answers == nil // the second time takes the same course
		over := map[string]course{}
		if _, self := c.strategy.(strategy.Reflexion); !self {
			r := strategy.Reflexion{Base: c.strategy, MaxAttempts: 3, Threshold: 0.8, Reset: true}
			over["reflexion"] = course{r, set(func(w *world) {
				w.below("attempt_1")
				w.replies["attempt_1.evaluator"] = "score: 0.9"
			}), loop.StopDone, under("attempt_1", c.tree), nil}
			over["reflexion beside the user"] = course{r, set(func(w *world) { // the work is judged again, and no turn is repeated
				w.below("attempt_1")
				w.replies["attempt_1.evaluator"], w.beside = "score: 0.9", true
				w.replies["critique.round_1"] = "no issues"
			}), loop.StopDone, under("attempt_1", c.tree) + " mine", nil}
			if often {
				again := set(func(w *world) {
					w.below("attempt_1", "attempt_2")
					w.replies["attempt_2.evaluator"] = "score: 0.9"
				})
				first := under("attempt_1", c.tree)
				over["reflexion again"] = course{r, again, loop.StopDone, under("attempt_2", c.tree), nil}
				r.Reset = false
				over["reflexion in place"] = course{r, again, loop.StopDone, first + " " + under("attempt_2", c.tree), nil}
			}
		}
		if _, self := c.strategy.(strategy.SelfRefine); !self {
			s := strategy.SelfRefine{Base: c.strategy, MaxRounds: 2, StopPhrase: "no issues"}
			over["self-refine"] = course{s, set(func(w *world) { w.replies["critique.round_1"] = "no issues" }), loop.StopDone, c.tree, nil}
			if often {
				over["self-refine again"] = course{s, set(func(w *world) {
					w.below("refine_1")
					w.replies["critique.round_2"] = "no issues"
				}), loop.StopDone, c.tree + " " + under("refine_1", c.tree), nil}
			}
		}
		for by, c := range over {
			t.Run(by+" over "+name, func(t *testing.T) {
				t.Parallel()
				c.numbered(t)
				every := 1
				if testing.Short() {
					every = 7 // still reaches all kinds of events
				}
				c.survives(t, every)
			})
		}
	}
}

// numbered sets the numbers of the actor's turns in the expected tree to the actual ones.
func (c *course) numbered(t *testing.T) {
	t.Helper()
	w := newWorld()
	c.world(w)
	_, err := w.loop(c.strategy).Run(t.Context(), loop.Session{ID: "s", Prompt: "do it"})
	got := strings.Join(w.trees[""], " ")
	if iterations.ReplaceAllString(got, "actor") != iterations.ReplaceAllString(c.tree, "actor") {
		t.Fatalf("%v; the tree has %q, want %q", err, got, c.tree)
	}
	c.tree = got
}

// TestToldToBases: the turns of a base are told what its driver says, and its judges are not.
func TestToldToBases(t *testing.T) {
	t.Parallel()
	for step, c := range map[loop.Step]struct {
		over  loop.Strategy
		world func(*world)
	}{
		"attempt_2.round_1.coordinator":       {newStrategy(t, "supervisor"), say("attempt_1.round_1.coordinator", "DELEGATE: coder\nWrite it.", "attempt_1.round_2.coordinator", "FINISH")},
		"attempt_2.level_1.candidate_1.turn":  {strategy.TreeOfThoughts{BranchFactor: 1, MaxDepth: 1, BeamWidth: 1, SolvedThreshold: 1}, nil},
		"attempt_2.plan_1.planner":            {newStrategy(t, "plan-and-execute"), nil},
		"attempt_2.debater_1.round_1":         {newStrategy(t, "debate"), nil},
		"attempt_2.route.classifier":          {newStrategy(t, "router", "fallback_route", "coder"), nil},
		"attempt_2.planner":                   {newStrategy(t, "rewoo"), nil},
		"attempt_2.turn_1.coder":              {newStrategy(t, "swarm", "entry_agent", "coder"), nil},
		"attempt_2.round_1.coordinator.board": {newStrategy(t, "blackboard"), nil},
	} {
		w := newWorld()
		if c.world != nil {
			c.world(w)
		}
		w.replies["attempt_1.reflector"] = "Write it down."
		r := strategy.Reflexion{Base: c.over, MaxAttempts: 2, Threshold: 0.8, Reset: true}
		if _, err := w.loop(r).Run(t.Context(), loop.Session{ID: "s", Prompt: "do it"}); err != nil {
			t.Fatal(err)
		}
		step = loop.Step(strings.TrimSuffix(string(step), ".board"))
		if told := w.prompts[step] + w.tasks[step]; !strings.Contains(told, "- Write it down.") {
			t.Errorf("%s is told %q", step, told)
		}
		if judged := w.tasks["attempt_2.evaluator"]; judged != "do it" {
			t.Errorf("%s: the evaluator is told %q", step, judged)
		}
	}
}
