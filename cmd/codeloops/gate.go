package main

import "codeloops/internal/policy"

// gate puts the rules of the run together. docs/policy.md tells of each of them,
// in this order.
func (p *plan) gate() policy.Gate {
	return policy.Gate{
		MaxIterations:        p.cfg.MaxIterations,
		MaxConsecutiveErrors: p.cfg.MaxConsecutiveErrors,
		MaxCost:              p.cfg.MaxCost,
		MaxTokens:            p.cfg.MaxTokens,
		Inspectors:           []policy.Inspector{},
		Rulers:               []policy.Ruler{policy.Checks{}},
	}
}
