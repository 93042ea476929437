package run

import (
	"slices"
	"strings"

	"codeloops/internal/config"
	"codeloops/internal/loop"
	"codeloops/internal/wording/hint"
)

// rulesOf are what holds the run, as its log keeps them.
func rulesOf(c *config.Config) []loop.Rule {
	var all []loop.Rule
	for _, r := range c.Rules() {
		all = append(all, loop.Rule(r))
	}
	return all
}

// held refuses to carry a session on under rules that hold it less than those that
// stand in its log, unless the command line says so: the files that they came from
// may have been the actor's to change.
func (p *Plan) held(was Earlier) error {
	c := p.earlier
	if len(c.Session.Rules) == 0 {
		return nil // of a version that kept none
	}
	now := p.options.Host.Secrets.Rules(rulesOf(p.Config)) // as those of the log
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
	return hint.Errorf("put it back, or say that it is to count: codeloops resume "+strings.Join(flags, " "),
		"session %s was held to other rules: %s", c.Session.ID, strings.Join(loose, "; "))
}

func asKept(rules []loop.Rule) []config.Rule {
	var all []config.Rule
	for _, r := range rules {
		all = append(all, config.Rule(r))
	}
	return all
}

// sets reports whether something that was said sets a rule, the profile that the rule
// came from, or who judges in the place of the agent that it is about.
func (s Settings) sets(l config.Loosening) bool {
	if strings.HasPrefix(l.Key, "agents.") && (s.has("agent") || s.has("critic-agent") || s.has("critic-panel")) {
		return true
	}
	return slices.ContainsFunc(s.flags, func(f loop.Flag) bool {
		row, _ := find(f.Name)
		return row.Key != "" && (row.Key == l.Key || row.Key == "profile" && strings.HasPrefix(l.Origin, "profile "))
	})
}
