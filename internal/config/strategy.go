package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/strategy"
)

const roleKeys = "strategy.roles."

// roles returns the values of each role of a strategy, by its name.
func (v values) roles() map[string]map[string]any {
	all := map[string]map[string]any{}
	for key, is := range v {
		if rest, ok := strings.CutPrefix(key, roleKeys); ok {
			name, own, _ := strings.Cut(rest, ".")
			if all[name] == nil {
				all[name] = map[string]any{}
			}
			all[name][own] = is.is
		}
	}
	return all
}

// shareSeats gives the settings of a role that several play, such as [strategy.roles.debater], to each of them
// (debater_1 and so on), as far as it has none of its own. One with an agent of its own gets no model and no fallback.
func (v values) shareSeats() {
	for name, shared := range v.roles() {
		if shared["about"] != nil || !strategy.HasRole(loop.Role(name+"_N")) {
			continue
		}
		seats, _ := v["strategy.debaters"].is.(int) // the only such role
		for i := range seats {
			one := fmt.Sprintf("%s%s_%d.", roleKeys, name, i+1)
			_, other := v[one+"agent"]
			for key := range shared {
				if _, own := v[one+key]; !own && !(other && (key == "model" || key == "fallback")) {
					v[one+key] = v[roleKeys+name+"."+key]
				}
			}
		}
		for key := range shared {
			delete(v, roleKeys+name+"."+key)
		}
	}
}

// Values returns the parameters of all strategies, and the roles that have a description.
func (s *Strategy) Values() strategy.Values {
	all := strategy.Values{Set: s.Set}
	for _, name := range slices.Sorted(maps.Keys(s.Roles)) {
		if m := s.Roles[name]; m.About != "" {
			all.Members = append(all.Members, strategy.Member{
				Role: loop.Role(name), About: m.About, Instructions: m.Instructions, Strategy: m.Strategy, Accepts: m.Accepts, Passes: m.Passes,
			})
		}
	}
	return all
}

// Names reports whether a role has an agent, a model or a fallback of its own.
func (s *Strategy) Names(role string) bool {
	own := s.set[role]
	return own["agent"] != nil || own["model"] != nil || own["fallback"] != nil
}

// Role returns how a role of a strategy is played: like another role, except for its own
// settings. With an agent of its own it does not get the other role's model and fallback.
func (s *Strategy) Role(name string, like Role) Role {
	own := s.set[name]
	if _, set := own["agent"]; set {
		like = Role{Timeout: like.Timeout, IdleTimeout: like.IdleTimeout}
	}
	if own["fallback"] != nil {
		like.Fallback = nil // the decoder writes into a list that is there
	}
	if len(own) > 0 {
		like.MaxCost, like.MaxTokens = 0, 0
	}
	_ = decode(own, &like) // the values have the types of the fields
	return like
}

// CriticTemplate is the user's own prompt for the critic, with its key; "" is none.
func (c *Config) CriticTemplate() (key, text string) {
	if c.Critic.Template != "" {
		return "critic.template", c.Critic.Template
	}
	return "critique_template", c.CritiqueTemplate
}

// unknownRoles reports roles that no strategy has, for example misspelled ones.
func (c *Config) unknownRoles() (problems Errors) {
	for _, name := range slices.Sorted(maps.Keys(c.Strategy.set)) {
		own := c.Strategy.set[name]
		first := slices.Sorted(maps.Keys(own))[0]
		if strategy.Reserved(loop.Role(name)) {
			problems = append(problems, c.contradiction(roleKeys+name+"."+first, "has a name with a meaning of its own",
				"take another one; the settings of actor and critic are in the tables [actor] and [critic]")...)
			continue
		}
		if own["about"] != nil || strategy.HasRole(loop.Role(name)) {
			continue
		}
		problems = append(problems, c.contradiction(roleKeys+name+"."+first, "is for a role that no strategy has",
			"`codeloops strategies` lists the roles; a role of your own needs the key about, which says what it is for")...)
	}
	return problems
}
