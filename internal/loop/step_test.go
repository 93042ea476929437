package loop_test

import (
	"testing"

	"codeloops/internal/loop"
)

func TestStep(t *testing.T) {
	t.Parallel()
	for step, want := range map[loop.Step]struct {
		parent    loop.Step
		name      string
		iteration int
	}{
		"":                    {"", "", 0},
		"2":                   {"", "2", 2},
		"2.critic":            {"2", "critic", 2},
		"3.debater_1.round_2": {"3.debater_1", "round_2", 3},
		"planner":             {"", "planner", 0},
	} {
		if step.Parent() != want.parent || step.Name() != want.name || step.Iteration() != want.iteration {
			t.Errorf("%q: parent %q, name %q, iteration %d", step, step.Parent(), step.Name(), step.Iteration())
		}
		if !step.In("") || !step.In(step) || step != "" && step.In(step+"1") {
			t.Errorf("%q: In is wrong", step)
		}
		if below := step.Sub("x"); below.Parent() != step || below.Name() != "x" || !below.In(step) || step.In(below) {
			t.Errorf("%q below %q", below, step)
		}
	}
}
