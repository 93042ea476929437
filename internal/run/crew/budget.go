package crew

import (
	"strings"

	"codeloops/internal/agent/pricing"
	"codeloops/internal/loop"
	"codeloops/internal/wording/hint"
)

// tellsCost reports whether the cost of a player's turns is known, from its agent or from prices.
func (p Player) tellsCost() bool { return p.Spec.TellsCost() || p.prices != (pricing.Prices{}) }

// costLimit returns the key of the limit on the cost of a role; "": none.
func (c *Casting) costLimit(role loop.Role) string {
	switch {
	case c.settings(role).MaxCost > 0:
		return table(role) + ".max_cost"
	case c.cfg.MaxCost > 0:
		return "max_cost"
	}
	return ""
}

// checkCost rejects a cost limit for players with unknown costs: they would be stopped after the
// first turn.
func (c *Casting) checkCost(players Cast) error {
	for i, who := range players {
		limit := c.costLimit(who.Role)
		if limit == "" || who.tellsCost() {
			continue
		}
		tokens := strings.Replace(limit, "cost", "tokens", 1)
		if i > 0 {
			return hint.Errorf("leave it out of the fallbacks, or limit tokens instead: "+tokens,
				"%s cannot be held: %s, a fallback of the %s, does not say what its turns cost", limit, who.Spec.Name, who.Role)
		}
		return hint.Errorf("give the prices of its model, "+table(who.Role)+".price_input and "+table(who.Role)+".price_output, or limit tokens instead: "+tokens,
			"%s cannot be held: the %s's agent, %s, does not say what its turns cost", limit, who.Role, who.Spec.Name)
	}
	return nil
}
