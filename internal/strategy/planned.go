package strategy

import (
	"strings"

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
