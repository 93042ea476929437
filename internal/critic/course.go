package critic

import (
	"fmt"
	"slices"
	"strings"

	"codeloops/internal/critic/excerpt"
	"codeloops/internal/loop"
)

// course shows what the iterations so far come to: the findings, each under one
// name, and signs that the loop does not get on. A finding is in the words of a
// critic, who may quote anybody: it is evidence like the rest.
func (p *prompt) course(matter loop.Case, budget Budget) {
	var last loop.Round
	for _, round := range slices.Backward(matter.History) {
		if last = round; !round.Unjudged {
			break
		}
	}
	if text := findings(last.Findings, matter.Inspection.Audit.Required); text != "" {
		p.sayf("What was found wrong so far, as the last review left it. A finding that is open stays so until a review says of it, by its name, what has become of it. Where you raise one again, begin with its name:")
		p.show("findings", excerpt.Clip(text, budget.History, budget.History))
	}
	if len(last.Warnings) > 0 {
		p.sayf("The loop does not seem to get on; the actor has been told the same:")
		p.list("signs", last.Warnings, budget.Files)
		p.sayf("If it goes on like this the run is ended. Ask only for what the task asks for, say exactly what is missing and how to see it, and say ERROR where the actor cannot do it.")
	}
}

func findings(all []loop.Finding, looked []loop.Requirement) string {
	var b strings.Builder
	for _, f := range all {
		state := string(f.State)
		if f.State == loop.FindingNew || f.State == loop.FindingUnmentioned {
			state = "open"
		}
		if slices.Contains(looked, loop.Requirement{Text: f.Text}) {
			state += " (codeloops has looked for it: it is not made)"
		}
		fmt.Fprintf(&b, "%s, %s, since iteration %d: %s\n", oneLine(f.ID), oneLine(state), f.Since, oneLine(f.Text))
	}
	return b.String()
}
