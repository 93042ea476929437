package policy

import (
	"codeloops/internal/converge"
	"codeloops/internal/loop"
)

// RuleConvergence is the rule that a loop must get on.
const RuleConvergence = converge.Rule

// Convergence warns both agents when the loop does not get on, and ends the run
// when that does not help.
type Convergence struct{ converge.Settings }

// thresholds are those that a policy asks for.
func thresholds(p *loop.ConvergencePolicy) (s converge.Settings) {
	if p == nil {
		return s
	}
	s.WarnAfter, s.StopAfter = p.WarnAfter, p.StopAfter
	if p.Similarity != nil {
		s.Similarity = *p.Similarity
	}
	return s
}

// Name implements [Ruler].
func (Convergence) Name() string { return RuleConvergence }

// Rule implements [Ruler].
func (v Convergence) Rule(c loop.Case, r loop.Review, so loop.Ruling) loop.Ruling {
	report := v.Look(c.History, loop.Round{
		Iteration: c.Iteration, Attempt: c.Attempt, Change: c.Change, Inspection: c.Inspection, Checks: c.Checks, Review: r, Ruling: so,
	})
	so.Warnings = append(so.Warnings, report.Warnings...)
	if report.Stuck != "" {
		so.Rule, so.Stop, so.Why = RuleConvergence, loop.StopStuck, report.Stuck
	}
	return so
}
