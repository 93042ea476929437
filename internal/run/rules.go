package run

import (
	"slices"
	"strings"

	"codeloops/internal/config"
	"codeloops/internal/loop"
	"codeloops/internal/wording/hint"
)

// rulesOf returns the rules of the run as its log keeps them.
func rulesOf(c *config.Config) []loop.Rule {
	var all []loop.Rule
	for _, r := range c.Rules() {
		all = append(all, loop.Rule(r))
	}
	return all
}

// checkRules refuses to resume a session under rules weaker than those in its log, unless the command
// line says so: the actor may have been able to change the files that they come from.
func (p *Plan) checkRules(was Earlier) error {
	c := p.earlier
	if len(c.Session.Rules) == 0 {
		return nil // an old log
	}
	now := p.options.Host.Secrets.Rules(rulesOf(p.Config)) // redacted, as in the log
	var loose, flags []string
	for _, l := range config.Loosened(asKept(c.Session.Rules), asKept(now)) {
		flag, said := "--accept-rules", was.AcceptRules || p.options.Settings.sets(l)
		if l.Key == config.TrustRule {
			flag, said = "--trust-project", p.options.Settings.Trusts()
		}
		if said {
			continue
		}
		loose = append(loose, l.String())
		if !slices.Contains(flags, flag) {
			flags = append(flags, flag)
		}
	}
	if loose == nil {
		return nil
	}
	return hint.Errorf("restore them, or accept them as they are: codeloops resume "+strings.Join(flags, " "),
		"session %s ran under other rules: %s", c.Session.ID, strings.Join(loose, "; "))
}

func asKept(rules []loop.Rule) []config.Rule {
	var all []config.Rule
	for _, r := range rules {
		all = append(all, config.Rule(r))
	}
	return all
}

// sets reports whether a flag sets a rule, the profile that the rule came from, or another judge
// in place of the agent that the rule is about.
func (s Settings) sets(l config.Loosening) bool {
	if strings.HasPrefix(l.Key, "agents.") && (s.has("agent") || s.has("critic-agent") || s.has("critic-panel")) {
		return true
	}
	return slices.ContainsFunc(s.flags, func(f loop.Flag) bool {
		row, _ := find(f.Name)
		return row.Key != "" && (row.Key == l.Key || row.Key == "profile" && strings.HasPrefix(l.Origin, "profile "))
	})
}
