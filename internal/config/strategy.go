package config

import (
	"fmt"
	"maps"
	"slices"

	"codeloops/internal/loop"
	"codeloops/internal/strategy"
)

// shareSeats gives the settings of a role that several play, such as [strategy.roles.debater], to each of them
// (debater_1 and so on), as far as it has none of its own. One with an agent of its own gets no model and no fallback.
func (l layer) shareSeats() {
	roles := l.tables("strategy.roles")
	for name, shared := range roles {
		if shared["about"] != nil || !strategy.HasRole(loop.Role(name+"_N")) {
			continue
		}
		seats, _ := l["strategy.debaters"].is.(int) // the only such role
		for key := range shared {
			all := "strategy.roles." + name + "." + key
			for i := range seats {
				one := fmt.Sprintf("%s_%d", name, i+1)
				other := roles[one]["agent"] != nil && (key == "model" || key == "fallback")
				if roles[one][key] == nil && !other {
					l["strategy.roles."+one+"."+key] = l[all]
				}
			}
			delete(l, all)
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
