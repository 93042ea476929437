package crew

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"codeloops/internal/agent"
	"codeloops/internal/config"
	"codeloops/internal/loop"
	"codeloops/internal/wording/hint"
)

// Auto is the agent name that stands for the first usable agent.
const Auto = "auto"

// isAuto reports whether a name means automatic choice; one of the user's own agents may have
// that name.
func (c *Casting) isAuto(name string) bool {
	_, own := c.cfg.Agents[Auto]
	return name == Auto && !own
}

// auto returns all agents that can play a role, in the configured order: those that are installed
// and seem to be signed in. If one turns out not to be, the next one takes over. The critic is a
// different agent than the actor if possible.
func (c *Casting) auto(ctx context.Context, role loop.Role, r config.Role) (Cast, error) {
	if r.Model != "" {
		return nil, hint.Errorf(`name it in agent_order, as in ["claude:`+r.Model+`"]`,
			"the %s's agent is auto, which takes no model, but got %q", role, r.Model)
	}
	order := c.order()
	var players, actors Cast
	var unsigned, silent []string
	for _, entry := range order {
		p, err := c.Player(role, loop.ParseAgent(entry))
		if errors.Is(err, agent.ErrUnknown) {
			return nil, fmt.Errorf("agent_order: %w", err)
		}
		if err != nil {
			continue // not installed, or not usable
		}
		p.Chosen = c.signedIn(ctx, p)
		switch {
		case c.costLimit(role) != "" && !p.tellsCost():
			silent = append(silent, p.Spec.Name)
		case p.Chosen == "":
			unsigned = append(unsigned, p.Spec.Name)
		case role == loop.RoleCritic && p.Spec.Name == c.actor:
			actors = append(actors, p)
		default:
			players = append(players, p)
		}
	}
	if players = append(players, actors...); len(players) == 0 {
		return nil, nobody(role, unsigned, silent, order)
	}
	return players, nil
}

// order returns the agents in the order in which they are tried.
func (c *Casting) order() []string {
	if len(c.cfg.AgentOrder) > 0 {
		return c.cfg.AgentOrder
	}
	var order []string
	for _, spec := range agent.Catalogue() {
		order = append(order, spec.Name)
	}
	return order
}

// unnamed reports whether no agent is configured for a role.
func (c *Casting) unnamed(role loop.Role, r config.Role) bool {
	unset := func(key string) bool { return c.cfg.Origin(key).Layer == config.Default }
	return unset("agent") && unset(table(role)+".agent") && r.Model == ""
}

// firstHere returns the first installed agent, or else the error of the default agent.
func (c *Casting) firstHere(role loop.Role, r config.Role) (Player, error) {
	for _, entry := range c.order() {
		if p, err := c.Player(role, loop.ParseAgent(entry)); err == nil {
			p.Unnamed = true
			return p, nil
		}
	}
	return c.Player(role, loop.AgentRef{Agent: r.Agent, Model: r.Model})
}

// signedIn says how an agent seems to be signed in, "" if it does not. The user vouches for
// agents outside of the catalogue.
func (c *Casting) signedIn(ctx context.Context, p Player) string {
	if slices.ContainsFunc(c.own, func(own agent.Spec) bool { return own.Name == p.Spec.Name }) {
		return "your own"
	}
	in, how := p.Login(ctx, c.host)
	if !in {
		return ""
	}
	return how
}

// ErrNobody says that automatic choice found no agent.
var ErrNobody = errors.New("no agent for the")

// nobody returns [ErrNobody]. Agents may be installed but unsigned: not signed in; or silent: they
// do not say what their turns cost, although the cost is limited.
func nobody(role loop.Role, unsigned, silent, order []string) error {
	switch {
	case len(unsigned) > 0:
		return hint.Errorf("sign in to one, or name it if it is: --agent "+unsigned[0],
			"%w %s: none of those installed seems to be signed in (%s)", ErrNobody, role, strings.Join(unsigned, ", "))
	case len(silent) > 0:
		return hint.Errorf("limit tokens instead: max_tokens",
			"%w %s: none of those installed says what its turns cost, which max_cost needs (%s)", ErrNobody, role, strings.Join(silent, ", "))
	}
	return hint.Errorf("`codeloops agents` tells how to install one", "%w %s: none of %s is installed", ErrNobody, role, strings.Join(order, ", "))
}
