package crew

import (
	"fmt"
	"math/rand/v2"
	"time"

	"codeloops/internal/agent"
	"codeloops/internal/agent/fallback"
	"codeloops/internal/agent/pricing"
	"codeloops/internal/agent/retry"
	"codeloops/internal/config"
	"codeloops/internal/loop"
)

// shortWait is how long an agent waits for a rate limit if another one could take over, unless
// the user has set a time.
const shortWait = 5 * time.Minute

// Waits ends waits for rate limits early; see [retry.Retrier].
type Waits interface {
	Ready()
	Early() <-chan struct{}
}

// A TurnInfo is what is known about a player's turns beforehand.
type TurnInfo struct {
	Ref       loop.AgentRef
	Role      loop.Role
	TellsCost bool // the cost of turns will be known
}

// Bind makes the players of a role ready to play.
func (c *Casting) Bind(players Cast, at agent.Place, waits Waits) (*fallback.Chain, error) {
	chain := &fallback.Chain{}
	for i, who := range players {
		at.Limits = who.limits
		bound, err := agent.New(who.Spec, who.Model, at, who.Access)
		if err != nil {
			return nil, err
		}
		wait := c.cfg.MaxWait
		if i < len(players)-1 && c.cfg.Origin("max_wait").Layer == config.Default {
			wait = min(wait, shortWait)
		}
		var paid agent.Player = &pricing.Estimator{Player: bound, Prices: who.prices}
		if c.Around != nil {
			paid = c.Around(TurnInfo{who.Ref(), who.Role, who.tellsCost()}, paid)
		}
		chain.Links = append(chain.Links, fallback.Link{Ref: bound.Ref(), Diagnose: who.diagnosis(c.host), Player: &retry.Retrier{
			Player: paid, Now: c.host.Now, MaxWait: wait, Random: rand.Float64, Ready: waits.Ready, Early: waits.Early(),
		}})
	}
	return chain, nil
}

// Fit rejects players that could not be bound to this place, before anything is started.
func (c *Casting) Fit(players Cast) error {
	at := agent.Place{Dir: c.dir, Environ: c.host.Environ, EnvDeny: c.cfg.EnvDeny, EnvPass: c.cfg.EnvPass}
	for _, who := range players {
		if _, err := agent.New(who.Spec, who.Model, at, who.Access); err != nil {
			return fmt.Errorf("set up the %s: %w", who.Role, err)
		}
	}
	return nil
}
