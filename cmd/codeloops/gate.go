package main

import (
	"slices"

	"codeloops/internal/config"
	"codeloops/internal/loop"
	"codeloops/internal/policy"
	"codeloops/internal/policy/limits"
	"codeloops/internal/tamper"
)

// gate puts the rules of the run together. docs/policy.md tells of each of them.
func (p *plan) gate() policy.Gate {
	return policy.Gate{
		MaxIterations:        p.cfg.MaxIterations,
		MaxConsecutiveErrors: p.cfg.MaxConsecutiveErrors,
		Budget:               policy.Budget{CostUSD: p.cfg.MaxCost, Tokens: int64(p.cfg.MaxTokens)},
		ActorBudget:          policy.Budget{CostUSD: p.cfg.Actor.MaxCost, Tokens: int64(p.cfg.Actor.MaxTokens)},
		CriticBudget:         policy.Budget{CostUSD: p.cfg.Critic.MaxCost, Tokens: int64(p.cfg.Critic.MaxTokens)},
		Inspectors:           p.inspectors(),
		Rulers:               policy.Rulers(p.policy()),
		Revise:               p.cfg.Policy.OnViolation == "revise",
	}
}

// inspectors are the rules on the actor's work, in the order in which they
// apply. Those that are off are among them, as in [policy.Rulers].
func (p *plan) inspectors() []policy.Inspector {
	c, set := p.cfg.Policy, p.policy().Critique
	dependencies := limits.NoNewDependencies{}
	if c.NoNewDependencies {
		dependencies = limits.NewNoNewDependencies()
	}
	weakened := limits.Tamper{Block: c.Tamper == "block", Tree: tamper.Tree{Files: workFiles{p.tree.Root()}, Deciding: p.deciders.checks()}}
	if c.Tamper != "off" {
		weakened.Detector = tamper.New()
	}
	return []policy.Inspector{
		limits.Audit{Base: p.tree.BaseState()},
		limits.AllowPaths(c.AllowPaths),
		limits.DenyPaths(c.DenyPaths),
		limits.DenyPhrases(c.DenyPhrases),
		limits.MaxFiles(c.MaxFiles),
		limits.MaxLines(c.MaxLines),
		limits.MaxBytes(c.MaxBytes),
		limits.MaxGrowth(c.MaxGrowth),
		limits.MinSimilarity(c.MinSimilarity),
		dependencies,
		weakened,
		limits.Deciding{Files: p.deciders, Block: p.cfg.Profile == "strict"},
		policy.Required{On: set != nil, Files: workFiles{p.tree.Root()}, Apply: set != nil && set.Fallback == "apply"},
	}
}

// policy is what the log keeps of the rules. What is the default is left out.
func (p *plan) policy() loop.Policy {
	c := p.cfg
	var set loop.Policy
	if c.Profile != "default" {
		set.Profile = c.Profile
	}
	if c.ApprovalThreshold > 0 {
		set.ApprovalThreshold = &c.ApprovalThreshold
	}
	set.RequireChange, set.OpenFindings = c.RequireChange, c.Policy.OpenFindings
	set.NoAutoRevise = !c.Policy.AutoRevise
	if c.Policy.OnViolation != "stop" {
		set.OnViolation = c.Policy.OnViolation
	}
	if slices.ContainsFunc(config.Decisions(), func(d string) bool { return !slices.Contains(c.Policy.CriticDecisions, d) }) {
		set.CriticDecisions = c.Policy.CriticDecisions
	}
	if v := c.Convergence; v.WarnAfter > 0 || v.StopAfter > 0 {
		set.Convergence = &loop.ConvergencePolicy{WarnAfter: v.WarnAfter, StopAfter: v.StopAfter, Similarity: &v.Similarity}
	}
	if c.Policy.Critique == "structured" {
		set.Critique = &loop.CritiquePolicy{
			RiskTypes: c.Policy.RiskTypes, HighRiskTypes: c.Policy.HighRiskTypes,
			MaxRisks: c.Policy.MaxRisks, MaxRequiredChanges: c.Policy.MaxChanges,
		}
		if c.Policy.Fallback != "off" {
			set.Critique.Fallback = c.Policy.Fallback
		}
	}
	return set
}
