package strategy

import (
	"fmt"
	"strings"

	"codeloops/internal/role/prompt"
	"codeloops/internal/role/verdict"
)

// listed is a plan, a line for each step.
func listed(steps []verdict.PlanStep) string {
	var lines []string
	for _, s := range steps {
		lines = append(lines, s.String())
	}
	return strings.Join(lines, "\n")
}

// texts are what the steps of a plan are about.
func texts(steps []verdict.PlanStep) (all []string) {
	for _, s := range steps {
		all = append(all, s.Text)
	}
	return all
}

// task is what a step is about, to those who work on it and to those who judge it.
func (w *project) task(i int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nThis is one step of a larger task. Do what it asks for, and nothing that belongs to another step: the work is judged by this step. The larger task:\n\n%s", w.plan[i].Text, prompt.Fenced(w.whole))
	for _, part := range []struct {
		lead  string
		steps []string
	}{{"Steps that are done, whose work is in the repository:", w.done}, {"Steps that others do later:", texts(w.plan[i+1:])}} {
		if len(part.steps) > 0 {
			fmt.Fprintf(&b, "\n%s\n- %s\n", part.lead, strings.Join(part.steps, "\n- "))
		}
	}
	return b.String()
}
