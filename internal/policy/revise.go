package policy

import "codeloops/internal/loop"

// RuleAutoRevise is the rule that nobody revises the work unasked.
const RuleAutoRevise = "auto_revise"

// AutoRevise ends a run, when it is denied, whose verdict would send the actor to
// work again: what a critic may say is one thing, what this run carries out
// another. DONE and an escalation pass.
type AutoRevise struct{ Denied bool }

// Name implements [Ruler].
func (AutoRevise) Name() string { return RuleAutoRevise }

// Rule implements [Ruler].
func (a AutoRevise) Rule(_ loop.Case, _ loop.Review, so loop.Ruling) loop.Ruling {
	if !a.Denied || so.Verdict.Decision == loop.Done || so.Verdict.Escalation != "" {
		return so
	}
	so.Rule, so.Stop = RuleAutoRevise, loop.Violation(RuleAutoRevise)
	so.Why = "the work is not done (" + string(so.Verdict.Decision) + "), and auto_revise = false sends nobody to work on it again"
	if said := so.Verdict.Guidance(); said != "" {
		so.Why += ": " + said
	}
	return so
}
