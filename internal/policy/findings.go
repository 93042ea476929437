package policy

import (
	"fmt"
	"slices"
	"strings"

	"codeloops/internal/critic/verdict"
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
// become of each finding that is due, and a required change that a program can verify must be
// made, whatever a critic says. The zero value only tracks findings.
type Findings struct {
	Convergence *loop.ConvergencePolicy
	Mode        string // AskFindings, RefuseFindings, or "" for neither
}

// Rule implements [Ruler].
func (f Findings) Rule(c loop.Case, r loop.Review, so loop.Ruling) loop.Ruling {
	so.Findings = look(f.Convergence, c, r, so).Findings
	if f.Mode == "" || so.Verdict.Decision != loop.Done {
		return so
	}
	missing := lacking(c)
	var open []loop.Finding
	if f.Mode == RefuseFindings {
		open = overdue(c, so.Findings)
	}
	if len(missing)+len(open) == 0 {
		return so
	}
	so.Rule = RuleFindings
	so.Verdict.Decision, so.Verdict.Feedback, so.Verdict.RequiredChanges = loop.Continue, unsettled(missing, open), missing
	so.Findings = nil // told apart anew, because the actor goes on
	so.Findings = look(f.Convergence, c, r, so).Findings
	return so
}

// unmentioned returns the names of due findings that a verdict which would end the run does
// not mention.
func (f Findings) unmentioned(c loop.Case, r loop.Review, so loop.Ruling) (names []string) {
	if f.Mode == "" || so.Verdict.Decision != loop.Done || len(lacking(c)) > 0 {
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

// lacking returns the required changes that the work lacks.
func lacking(c loop.Case) (missing []string) {
	for _, q := range c.Inspection.Audit.Required {
		if !q.Enforced {
			missing = append(missing, q.Text)
		}
	}
	return missing
}

// unsettled returns the feedback for the actor when the critic approved the work.
func unsettled(missing []string, open []loop.Finding) string {
	var b strings.Builder
	b.WriteString("The reviewer approved the work, but not all earlier findings are settled.")
	if len(missing) > 0 {
		b.WriteString("\n\nA program looked for these changes in the files that you changed and did not find them:\n- " + strings.Join(missing, "\n- ") + "\n\n" + verdict.WordForWord)
	}
	if len(open) > 0 {
		b.WriteString("\n\nThe review does not mention these findings. Settle each of them, or say why it is wrong:")
		for _, x := range open {
			fmt.Fprintf(&b, "\n- %s: %s", x.ID, x.Text)
		}
	}
	return b.String()
}
