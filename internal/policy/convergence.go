package policy

import (
	"codeloops/internal/converge"
	"codeloops/internal/loop"
)

// RuleConvergence is the rule that a loop must get on.
const RuleConvergence = converge.Rule

// Convergence follows the findings over the iterations. It warns both agents
// when the loop does not get on, and ends the run when that does not help.
type Convergence struct{ converge.Settings }

// convergence returns the rule that a policy asks for; one that is off follows
// the findings all the same.
func convergence(p *loop.ConvergencePolicy) Convergence {
	var c Convergence
	if p == nil {
		return c
	}
	c.WarnAfter, c.StopAfter = p.WarnAfter, p.StopAfter
	if p.Similarity != nil {
		c.Similarity = *p.Similarity
	}
	return c
}

// Name implements [Ruler].
func (Convergence) Name() string { return RuleConvergence }

// Rule implements [Ruler].
func (v Convergence) Rule(c loop.Case, r loop.Review, so loop.Ruling) loop.Ruling {
	report := v.Look(c.History, loop.Round{
		Iteration: c.Iteration, Attempt: c.Attempt, Change: c.Change, Checks: c.Checks, Review: r, Ruling: so,
	})
	so.Findings = report.Findings
	so.Warnings = append(so.Warnings, report.Warnings...)
	if report.Stuck != "" {
		so.Rule, so.Stop, so.Why = RuleConvergence, loop.StopStuck, report.Stuck
	}
	return so
}
