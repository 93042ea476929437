package run

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"codeloops/internal/config"
	"codeloops/internal/loop"
	"codeloops/internal/run/crew"
	"codeloops/internal/strategy"
	"codeloops/internal/wording"
)

// Spelled returns settings as they are typed, word by word.
func Spelled(flags []loop.Flag) (words []string) {
	for _, f := range flags {
		row, _ := config.FlagOf(f.Name)
		_, isSwitch := row.Default.(bool)
		name := "--" + row.Flag
		if row.Short != "" {
			name = "-" + row.Short
		}
		switch {
		case len(f.Values) == 0: // it clears a value from a file
			words = append(words, name, "")
		case isSwitch && f.Values[0] == "true":
			words = append(words, name)
		case isSwitch:
			words = append(words, name+"="+f.Values[0])
		default:
			for _, value := range f.Values {
				words = append(words, name, value)
			}
		}
	}
	return words
}

// A Fact is a line of a plan's description; About is "" if it belongs to the line before.
type Fact struct{ About, Text string }

// Describe says what a plan would do.
func Describe(p *Plan) []Fact {
	facts := append([]Fact{{"directory", p.Dir}, {"work tree", p.Root()}}, playersOf(p)...)
	if set := PanelOf(p.Config); set != nil {
		facts = append(facts, Fact{"panel", fmt.Sprintf("%d of %d have to say DONE", set.Quorum, len(set.Members))})
	}
	facts = append(append(facts, courseOf(p)...), Fact{"session", p.Config.ActorSession})
	for _, t := range templatesOf(p.Config, p.choice.Cast()) {
		facts = append(facts, Fact{"template", t.Key + " of " + t.Origin})
	}
	for _, c := range p.Config.Checks {
		facts = append(facts, Fact{"check", c})
	}
	most := "no limit"
	if n := p.Config.MaxIterations; n > 0 {
		most = fmt.Sprintf("at most %d", n)
	}
	return append(facts, Fact{"iterations", most}, Fact{"duration", limit(p.Config.MaxDuration)}, Fact{"log", p.Logs})
}

// playersOf describes who plays; the critic only if one is asked.
func playersOf(p *Plan) (facts []Fact) {
	all := []crew.Cast{p.Actor}
	if p.choice.Judged() {
		if all = append(all, p.Critic); len(p.Panel) > 0 {
			all = append(all[:1], p.Panel...)
		}
	}
	for _, role := range slices.Sorted(maps.Keys(p.Others)) {
		all = append(all, p.Others[role])
	}
	for _, players := range all {
		for i, who := range players {
			about := string(who.Role)
			if i > 0 {
				about = "  fallback"
			}
			how := fmt.Sprintf("time limit %s, prompt by %s", limit(who.Timeout()), who.Spec.Prompt)
			if who.Chosen != "" {
				how = "auto: " + who.Spec.Name + ", " + who.Chosen + "; " + how
			}
			who, told := p.casting.Wary(who, "")
			facts = append(facts, Fact{about, strings.Join(who.CommandLine(), " ")}, Fact{"", how})
			for _, caveat := range append(told, who.Caveats(p.Config)...) {
				facts = append(facts, Fact{"", caveat})
			}
		}
	}
	return facts
}

func limit(d time.Duration) string {
	if d <= 0 {
		return "none"
	}
	return wording.Duration(d)
}

// courseOf describes the strategy and how many turns it can take.
func courseOf(p *Plan) (facts []Fact) {
	facts = append(facts, Fact{"strategy", p.choice.Kind.Name + ": " + p.choice.Kind.About})
	var set []string
	for _, x := range p.strategy().Parameters {
		if strategy.OfMember(x.Key) {
			continue // listed below
		}
		set = append(set, x.Key+" = "+x.Value)
	}
	if len(set) > 0 {
		facts = append(facts, Fact{"", strings.Join(set, ", ")})
	}
	for _, m := range p.choice.Members {
		who := fmt.Sprintf("%s: %s", m.Role, m.About)
		if m.Strategy != "" {
			who += ", with " + m.Strategy
		}
		facts = append(facts, Fact{"member", who})
	}
	most := "only the budgets limit the turns of agents"
	if n := p.choice.Most(p.Config.MaxIterations); n >= 0 {
		most = fmt.Sprintf("at most %d turns of agents, not counting those that are asked for again", n)
	}
	if n := len(p.Panel); n > 0 {
		most += fmt.Sprintf("; a turn of the critic is one of each of the %d members of the panel", n)
	}
	return append(facts, Fact{"", most})
}
