package run

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"slices"

	"codeloops/internal/config"
	"codeloops/internal/loop"
	"codeloops/internal/policy"
	"codeloops/internal/policy/limits"
	"codeloops/internal/policy/tamper"
	"codeloops/internal/run/worktree"
	"codeloops/internal/wording/hint"
)

// gate assembles the rules of the run, which docs/policy.md describes.
func gate(c *config.Config, tree *worktree.Tree, tables *tamper.Tables, d *deciders, alone bool) policy.Gate {
	g := bounds(c)
	g.Inspectors, g.Rulers, g.Revise = inspectors(c, tree, tables, d, alone), policy.Rulers(policyOf(c)), c.Policy.OnViolation == "revise"
	return g
}

// bounds is the part of the gate that ends a run: the limits on iterations, errors and costs.
func bounds(c *config.Config) policy.Gate {
	return policy.Gate{
		MaxIterations:        c.MaxIterations,
		MaxConsecutiveErrors: c.MaxConsecutiveErrors,
		Budget:               policy.Budget{CostUSD: c.MaxCost, Tokens: int64(c.MaxTokens)},
		ActorBudget:          policy.Budget{CostUSD: c.Actor.MaxCost, Tokens: int64(c.Actor.MaxTokens)},
		CriticBudget:         policy.Budget{CostUSD: c.Critic.MaxCost, Tokens: int64(c.Critic.MaxTokens)},
		RoleBudgets:          roleBudgets(c.Strategy),
	}
}

// roleBudgets returns the budgets of the roles besides actor and critic.
func roleBudgets(s config.Strategy) map[loop.Role]policy.Budget {
	all := map[loop.Role]policy.Budget{}
	for name := range s.Roles {
		of := s.Role(name, config.Role{})
		all[loop.Role(name)] = policy.Budget{CostUSD: of.MaxCost, Tokens: int64(of.MaxTokens)}
	}
	return all
}

// inspectors returns the rules on the actor's work, in the order in which they apply. Inactive
// ones are included, as in [policy.Rulers].
func inspectors(cfg *config.Config, tree *worktree.Tree, tables *tamper.Tables, d *deciders, alone bool) []policy.Named {
	c, set := cfg.Policy, policyOf(cfg).Critique
	files := worktree.Files{Dir: tree.Root()}
	return []policy.Named{
		{Name: "audit", Inspector: limits.Audit{Base: tree.BaseState()}},
		{Name: "allow_paths", Inspector: limits.AllowPaths(c.AllowPaths)},
		{Name: "deny_paths", Inspector: limits.DenyPaths(c.DenyPaths)},
		{Name: "deny_phrases", Inspector: limits.DenyPhrases(c.DenyPhrases)},
		{Name: "max_files", Inspector: limits.Most(c.MaxFiles, "file", limits.Files)},
		{Name: "max_lines", Inspector: limits.Most(c.MaxLines, "line", limits.Lines)},
		{Name: "max_bytes", Inspector: limits.Most(int64(c.MaxBytes), "byte", limits.Bytes)},
		{Name: "no_new_dependencies", Inspector: limits.NoNewDependencies{On: c.NoNewDependencies, Tree: tamper.Tree{Read: files.Read}}},
		{Name: limits.RuleTamper, Inspector: limits.Tamper{
			On: c.Tamper != "off", Block: blocked(c), Tree: tamper.Tree{Tables: tables, Read: files.Read, Deciding: d.checks()},
		}},
		{Name: limits.RuleDeciding, Inspector: limits.Deciding{Changed: d.Changed, Block: cfg.Profile == "strict", Alone: alone}},
		{Name: policy.RuleRequired, Inspector: policy.Required{On: set != nil, Read: files.Read}},
	}
}

// blocked returns the signs of tampering that break the rule.
func blocked(c config.Policy) []string {
	if c.Tamper == "block" {
		return c.Block
	}
	return nil
}

// tablesOf returns the tables of what tests look like, with the user's own.
func tablesOf(c *config.Config) (*tamper.Tables, error) {
	if c.Policy.TamperTables == "" {
		return tamper.Standard(), nil
	}
	text, err := os.ReadFile(c.Policy.TamperTables)
	if err != nil {
		return nil, fmt.Errorf("read policy.tamper_tables: %w", err)
	}
	tables, err := tamper.Standard().With(string(text))
	if err != nil {
		return nil, hint.Errorf("docs/limits.md shows what the tables look like", "%s: %w", c.Policy.TamperTables, err)
	}
	return tables, nil
}

// policyOf returns the rules as the log keeps them, without the defaults.
func policyOf(c *config.Config) loop.Policy {
	set := c.Policy.Policy
	if c.Profile != "default" {
		set.Profile = c.Profile
	}
	if c.ApprovalThreshold > 0 {
		set.ApprovalThreshold = &c.ApprovalThreshold
	}
	set.LateFindings = "once"
	if c.Profile == loop.ProfileStrict {
		set.LateFindings = "never"
	}
	if set.OnViolation == "stop" {
		set.OnViolation = ""
	}
	if !slices.ContainsFunc(config.Decisions(), func(d string) bool { return !set.Allows(d) }) {
		set.CriticDecisions = nil
	}
	set.RequireChange, set.NoAutoRevise, set.Panel = c.RequireChange, !c.Policy.AutoRevise, PanelOf(c)
	if c.Convergence != (loop.ConvergencePolicy{}) {
		set.Convergence = &c.Convergence
	}
	if c.Policy.Critique == "structured" {
		critique := c.Policy.CritiquePolicy
		set.Critique = &critique
	}
	return set
}

// PanelOf returns the panel, nil if there is one critic.
func PanelOf(c *config.Config) *loop.PanelPolicy {
	if len(c.Critic.Members) == 0 {
		return nil
	}
	p := &loop.PanelPolicy{Quorum: c.Critic.Needs(), Rounds: c.Critic.Rounds}
	for _, entry := range c.Critic.Members {
		p.Members = append(p.Members, loop.ParseAgent(entry))
	}
	return p
}

// templatesOf lists what the user tells those who play in their own words. What a member is told is
// logged with the strategy.
func templatesOf(c *config.Config, plays map[loop.Role]loop.Access) (list []loop.Template) {
	type words struct{ key, text string }
	key, text := c.CriticTemplate()
	all := []words{{key, text}, {"refine_template", c.RefineTemplate}, {"actor.template", c.Actor.Template}, {"actor.instructions", c.Actor.Instructions}, {"critic.instructions", c.Critic.Instructions}}
	for _, name := range slices.Sorted(maps.Keys(c.Strategy.Roles)) {
		m := c.Strategy.Roles[name]
		if _, plays := plays[loop.Role(name)]; !plays {
			continue
		}
		if m.About != "" {
			m.Instructions = ""
		}
		all = append(all, words{"strategy.roles." + name + ".template", m.Template}, words{"strategy.roles." + name + ".instructions", m.Instructions})
	}
	for _, t := range all {
		if t.text != "" {
			digest := fmt.Sprintf("%x", sha256.Sum256([]byte(t.text)))
			list = append(list, loop.Template{Key: t.key, Origin: c.Origin(t.key).String(), SHA256: digest})
		}
	}
	return list
}
