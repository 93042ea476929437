package policy

import (
	"fmt"
	"slices"
	"strings"

	"codeloops/internal/converge"
	"codeloops/internal/loop"
)

// RuleFindings is the rule that no run is done over findings that are open.
const RuleFindings = "open_findings"

// What is done about a DONE that passes over open findings.
const (
	AskFindings    = "ask"    // the critic is asked once what has become of them
	RefuseFindings = "refuse" // and a second DONE is CONTINUE
)

// Findings follows the points that critics raise over the iterations. A DONE has
// to say of each one that is due what has become of it, and a change that a
// program can look for has to be made, whatever a critic says. The zero value
// only follows them.
type Findings struct {
	Settings converge.Settings
	Mode     string // AskFindings, RefuseFindings, or "" for neither
}

// Name implements [Ruler].
func (Findings) Name() string { return RuleFindings }

// Rule implements [Ruler].
func (f Findings) Rule(c loop.Case, r loop.Review, so loop.Ruling) loop.Ruling {
	so.Findings = f.ledger(c, r, so)
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
	so.Findings = f.ledger(c, r, so)
	return so
}

// ledger returns the findings as a ruling leaves them.
func (f Findings) ledger(c loop.Case, r loop.Review, so loop.Ruling) []loop.Finding {
	now := loop.Round{Iteration: c.Iteration, Attempt: c.Attempt, Change: c.Change, Inspection: c.Inspection, Checks: c.Checks, Review: r, Ruling: so}
	return f.Settings.Look(c.History, now).Findings
}

// unmentioned names the findings that a verdict would end the run over without a
// word on them.
func (f Findings) unmentioned(c loop.Case, r loop.Review, so loop.Ruling) (names []string) {
	if f.Mode == "" || so.Verdict.Decision != loop.Done || len(lacking(c)) > 0 {
		return nil
	}
	for _, x := range overdue(c, f.ledger(c, r, so)) {
		names = append(names, x.ID)
	}
	return names
}

// overdue returns the findings that were due before a review, and are after it.
func overdue(c loop.Case, after []loop.Finding) []loop.Finding {
	due := loop.Due(c.History)
	return slices.DeleteFunc(slices.Clone(after), func(x loop.Finding) bool {
		return !x.Due() || !slices.ContainsFunc(due, func(y loop.Finding) bool { return x.ID == y.ID })
	})
}

// lacking returns the required changes that the work does not keep.
func lacking(c loop.Case) (missing []string) {
	for _, q := range c.Inspection.Audit.Required {
		if !q.Enforced {
			missing = append(missing, q.Text)
		}
	}
	return missing
}

// unsettled is what the actor is told when the critic was content.
func unsettled(missing []string, open []loop.Finding) string {
	var b strings.Builder
	b.WriteString("The reviewer was content, but not everything that was found wrong before is settled.")
	if len(missing) > 0 {
		b.WriteString("\n\nA program has looked for these changes and does not find them in the files that you have changed:\n- " + strings.Join(missing, "\n- ") + "\n\n" + wordForWord)
	}
	if len(open) > 0 {
		b.WriteString("\n\nThe reviewer says nothing of these findings. See to each of them, or say why it is none:")
		for _, x := range open {
			fmt.Fprintf(&b, "\n- %s: %s", x.ID, x.Text)
		}
	}
	return b.String()
}
