package critic

import (
	"fmt"
	"strings"

	"codeloops/internal/critic/excerpt"
	"codeloops/internal/loop"
)

// course shows what the iterations so far come to: the findings, each under one
// name, and signs that the loop does not get on.
func (p *prompt) course(history []loop.Round, budget Budget) {
	if len(history) == 0 {
		return
	}
	last := history[len(history)-1]
	for i := len(history) - 1; i >= 0 && last.Unjudged; i-- {
		last = history[i] // the last one that has findings
	}
	if text := findings(last.Findings); text != "" {
		p.sayf("What was found wrong so far, as the last review left it. Say of each point that is open whether it is settled; where you raise one again, use the words that it has here:")
		p.show("findings", excerpt.Clip(text, budget.History, budget.History))
	}
	if len(last.Warnings) == 0 {
		return
	}
	var b strings.Builder
	for _, w := range last.Warnings {
		fmt.Fprintf(&b, "\n- %s", oneLine(w))
	}
	p.sayf("The loop does not seem to get on; the actor has been told the same:%s\nIf it goes on like this the run is ended. Ask only for what the task asks for, say exactly what is missing and how to see it, and say ERROR where the actor cannot do it.", b.String())
}

func findings(all []loop.Finding) string {
	var b strings.Builder
	for _, f := range all {
		state := string(f.State)
		if f.State == loop.FindingNew {
			state = "open"
		}
		fmt.Fprintf(&b, "%s, %s, since iteration %d: %s\n", oneLine(f.ID), oneLine(state), f.Since, oneLine(f.Text))
	}
	return b.String()
}
