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
)

// shortWait is how long an agent waits for the end of a limit when another one
// could play on, unless the user has said how long.
const shortWait = 5 * time.Minute

// Waits is told of waits for the end of a limit, as [retry.Retrier] tells them.
type Waits interface {
	Ready()
	Early() <-chan struct{}
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
		paid := &pricing.Estimator{Player: bound, Prices: who.prices}
		chain.Links = append(chain.Links, fallback.Link{Ref: bound.Ref(), Ask: c.ailing(who), Player: &retry.Retrier{
			Player: paid, Now: c.host.Now, MaxWait: wait, Random: rand.Float64, Ready: waits.Ready, Early: waits.Early(),
		}})
	}
	return chain, nil
}

// Fit refuses players that could not be bound to this place, before anything is
// started.
func (c *Casting) Fit(players Cast) error {
	at := agent.Place{Dir: c.dir, Environ: c.host.Environ, EnvDeny: c.cfg.EnvDeny, EnvPass: c.cfg.EnvPass}
	for _, who := range players {
		if _, err := agent.New(who.Spec, who.Model, at, who.Access); err != nil {
			return fmt.Errorf("set up the %s: %w", who.Role, err)
		}
	}
	return nil
}
