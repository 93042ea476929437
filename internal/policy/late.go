package policy

import (
	"slices"
	"strings"

	"codeloops/internal/loop"
)

// RuleLate is the rule that late findings alone do not prolong a run.
const RuleLate = "late_findings"

// Late turns a CONTINUE into DONE that finds nothing but late findings, if they alone have prolonged
// the run before: the critic could have raised them when it saw these lines first.
type Late struct {
	Convergence *loop.ConvergencePolicy
	Prolong     string // how often they may: "once", "never", or "" for any number of times
}

// Rule implements [Ruler].
func (l Late) Rule(c loop.Case, r loop.Review, so loop.Ruling) loop.Ruling {
	v := so.Verdict
	if l.Prolong == "" || v.Decision != loop.Continue || v.Escalation != "" || len(v.RequiredChanges) > 0 || r.Problem != "" || len(r.Stale) > 0 ||
		slices.ContainsFunc(c.Checks, func(check loop.CheckResult) bool { return !check.Passed() }) {
		return so
	}
	names, alone := lateAlone(look(l.Convergence, c, r, so).Findings)
	if !alone {
		return so
	}
	before := slices.ContainsFunc(c.History, func(round loop.Round) bool {
		_, only := lateAlone(round.Findings)
		return only && !round.Unjudged && round.Verdict.Decision == loop.Continue
	})
	if l.Prolong != "never" && !before {
		return so
	}
	so.Rule = RuleLate
	so.Verdict.Decision = loop.Done
	so.Verdict.Summary = "what is left was found late, in lines that the critic had seen before: " + strings.Join(names, ", ")
	return so
}

// lateAlone returns the late findings that are due, and whether there are some and no others.
func lateAlone(findings []loop.Finding) (names []string, alone bool) {
	for _, f := range findings {
		if f.Late && f.Raised() && !f.May {
			names = append(names, f.ID)
		}
	}
	return names, len(names) > 0 && !slices.ContainsFunc(findings, loop.Finding.Due)
}
