package policy

import (
	"fmt"
	"slices"
	"strings"

	"codeloops/internal/loop"
)

// RuleFindings is the rule that a run is not done while findings are open.
const RuleFindings = "open_findings"

// The modes for a DONE that ignores open findings.
const (
	AskFindings    = "ask"    // the critic is asked once about them
	RefuseFindings = "refuse" // likewise, and a second DONE becomes CONTINUE
)

// Findings tracks the points that critics raise over the iterations. A DONE must say what has
// become of each finding that is due. The zero value only tracks findings.
type Findings struct {
	Convergence *loop.ConvergencePolicy
	Mode        string // AskFindings, RefuseFindings, or "" for neither
}

// Rule implements [Ruler].
func (f Findings) Rule(c loop.Case, r loop.Review, so loop.Ruling) loop.Ruling {
	so.Findings = look(f.Convergence, c, r, so).Findings
	open := overdue(c, so.Findings)
	if f.Mode != RefuseFindings || so.Verdict.Decision != loop.Done || len(open) == 0 {
		return so
	}
	var b strings.Builder
	b.WriteString("The reviewer approved the work, but does not mention these findings. Settle each of them, or say why it is wrong:")
	for _, x := range open {
		fmt.Fprintf(&b, "\n- %s: %s", x.ID, x.Text)
	}
	so.Rule = RuleFindings
	so.Verdict.Decision, so.Verdict.Feedback = loop.Continue, b.String()
	so.Findings = nil // told apart anew, because the actor goes on
	so.Findings = look(f.Convergence, c, r, so).Findings
	return so
}

// unmentioned returns the names of due findings that a verdict which would end the run does
// not mention.
func (f Findings) unmentioned(c loop.Case, r loop.Review, so loop.Ruling) (names []string) {
	if f.Mode == "" || so.Verdict.Decision != loop.Done {
		return nil
	}
	for _, x := range overdue(c, look(f.Convergence, c, r, so).Findings) {
		names = append(names, x.ID)
	}
	return names
}

// overdue returns the findings that were due before a review and still are.
func overdue(c loop.Case, after []loop.Finding) []loop.Finding {
	due := loop.Due(c.History)
	return slices.DeleteFunc(slices.Clone(after), func(x loop.Finding) bool {
		return !x.Due() || !slices.ContainsFunc(due, func(y loop.Finding) bool { return x.ID == y.ID })
	})
}
