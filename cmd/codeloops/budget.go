package main

import (
	"strings"

	"codeloops/internal/config"
	"codeloops/internal/estimate"
	"codeloops/internal/loop"
)

// tellsCost reports whether the cost of a player's turns is known: its agent says
// it, or it follows from prices.
func (p player) tellsCost() bool { return p.spec.TellsCost() || p.prices != (estimate.Prices{}) }

// costLimit returns the key of a limit on what the turns of a role may cost; "" is
// none.
func costLimit(cfg *config.Config, role loop.Role) string {
	of := cfg.Actor
	if role == loop.RoleCritic {
		of = cfg.Critic
	}
	switch {
	case of.MaxCost > 0:
		return string(role) + ".max_cost"
	case cfg.MaxCost > 0:
		return "max_cost"
	}
	return ""
}

// mayCost refuses a limit on the cost to which somebody of a cast could not be held:
// the first turn would be its last one.
func (c cast) mayCost(cfg *config.Config) error {
	for i, who := range c {
		limit := costLimit(cfg, who.role)
		if limit == "" || who.tellsCost() {
			continue
		}
		tokens := strings.Replace(limit, "cost", "tokens", 1)
		if i > 0 {
			return usagef("leave it out of the row, or limit tokens instead: "+tokens,
				"%s cannot be held: %s, a fallback of the %s, does not say what its turns cost", limit, who.spec.Name, who.role)
		}
		return usagef("give the prices of its model, "+string(who.role)+".price_input and "+string(who.role)+".price_output, or limit tokens instead: "+tokens,
			"%s cannot be held: the %s's agent, %s, does not say what its turns cost", limit, who.role, who.spec.Name)
	}
	return nil
}
