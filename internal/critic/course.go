package critic

import (
	"fmt"
	"slices"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/prompt"
	"codeloops/internal/wording"
)

// course shows the state of the session: the findings by name, and signs that the loop
// makes no progress. A finding is a critic's text, which may quote anybody, so it is
// shown as evidence.
func (d *draft) course(matter loop.Case) {
	var last loop.Round
	for _, round := range slices.Backward(matter.History) {
		if last = round; !round.Unjudged {
			break
		}
	}
	if text := findings(last.Findings, matter.Inspection.Audit.Required); text != "" {
		d.sayf("The findings so far, as the last review left them. An open finding stays open until a review says by its name what has become of it. When you raise one again, begin with its name. A new finding on lines that have not changed since your last look is late: late findings alone prolong the run by one round at most.")
		d.show("findings", prompt.Clip(text, d.budget.History, d.budget.History))
	}
	if len(last.Warnings) > 0 {
		d.sayf("The loop seems to make no progress; the actor has been told the same:")
		d.list("signs", last.Warnings, d.budget.Files)
		d.sayf("If this continues, the run ends. Ask only for what the task asks for. Say exactly what is missing and how to see it. Decide ERROR if the actor cannot do it.")
	}
}

func findings(all []loop.Finding, looked []loop.Requirement) string {
	var b strings.Builder
	for _, f := range all {
		state := string(f.State)
		if f.State == loop.FindingNew || f.State == loop.FindingUnmentioned {
			state = "open"
		}
		if f.Late {
			state += ", late (its lines had not changed since your last look)"
		}
		if slices.Contains(looked, loop.Requirement{Text: f.Text}) {
			state += " (codeloops has looked: the change has not been made)"
		}
		fmt.Fprintf(&b, "%s, %s, since iteration %d: %s\n", wording.Line(f.ID), wording.Line(state), f.Since, wording.Line(f.Text))
	}
	return b.String()
}
