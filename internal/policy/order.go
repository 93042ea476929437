package policy

import "codeloops/internal/loop"

// Rulers returns the rules on verdicts, set as a policy says, in the order in
// which they apply: the score first, as it may make DONE of what a check then
// speaks against; findings once nothing else does; last what may end the run for
// whatever the others came to.
// Rules that are off are among them: a list that is always whole can be compared
// with the documentation, and with the tests.
func Rulers(p loop.Policy) []Ruler {
	var threshold float64
	if p.ApprovalThreshold != nil {
		threshold = *p.ApprovalThreshold
	}
	return []Ruler{
		Approval{Threshold: threshold, Strict: p.Critique != nil},
		Checks{},
		Change{Required: p.RequireChange},
		Findings{Settings: thresholds(p.Convergence), Mode: p.OpenFindings},
		AutoRevise{Denied: p.NoAutoRevise},
		Convergence{thresholds(p.Convergence)},
	}
}
