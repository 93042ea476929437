package main

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"codeloops/internal/config"
	"codeloops/internal/loop"
	"codeloops/internal/session"
)

// rules are what holds the run, as its log keeps them.
func (p *plan) rules() []loop.Rule {
	var all []loop.Rule
	for _, r := range p.cfg.Rules() {
		all = append(all, loop.Rule(r))
	}
	return all
}

// held refuses to carry a session on under rules that hold it less than those that
// stand in its log, unless the command line says so: the files that they came from
// may have been the actor's to change.
func (p *plan) held(c session.Course, o *resumeOptions) error {
	if len(c.Session.Rules) == 0 {
		return nil // of a version that kept none
	}
	now := p.app.secrets.Rules(p.rules()) // as those of the log
	var loose, flags []string
	for _, l := range config.Loosened(asKept(c.Session.Rules), asKept(now)) {
		flag, said := "--accept-rules", o.acceptRules || o.sets(l)
		if l.Key == config.TrustRule {
			flag, said = "--trust-project", o.trustProject
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
	return usagef("put it back, or say that it is to count: codeloops resume "+strings.Join(flags, " "),
		"session %s was held to other rules: %s", c.Session.ID, strings.Join(loose, "; "))
}

func asKept(rules []loop.Rule) []config.Rule {
	var all []config.Rule
	for _, r := range rules {
		all = append(all, config.Rule(r))
	}
	return all
}

// flagsIn are the names of the flags that were given so far.
func flagsIn(given *pflag.FlagSet) map[string]bool {
	names := map[string]bool{}
	given.Visit(func(f *pflag.Flag) { names[f.Name] = true })
	return names
}

// sets reports whether a flag of this very command line sets a rule, the profile that
// the rule came from, or who judges in the place of the agent that it is about.
func (o *resumeOptions) sets(l config.Loosening) bool {
	if strings.HasPrefix(l.Key, "agents.") && (o.typed["agent"] || o.typed["critic-agent"]) {
		return true
	}
	for flag, key := range settingFlags() {
		if o.typed[flag] && (key == l.Key || key == "profile" && strings.HasPrefix(l.Origin, "profile ")) {
			return true
		}
	}
	return false
}
