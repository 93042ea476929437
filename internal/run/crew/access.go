package crew

import (
	"fmt"
	"slices"

	"codeloops/internal/config"
	"codeloops/internal/loop"
	"codeloops/internal/view"
)

// MayBuild reports whether critics are started as actors are. In the user's own work
// tree they never are.
func MayBuild(cfg *config.Config) bool {
	return cfg.CriticView != string(view.Tree) && cfg.CriticAccess == "full"
}

// Reading is the cast in turns in which it may not write, as in one that looks at its own
// work.
func (c Cast) Reading(cfg *config.Config) Cast {
	c = slices.Clone(c)
	for i := range c {
		c[i].Access = loop.ReadOnly
	}
	if MayBuild(cfg) {
		c = c.asActors(cfg)
	}
	return c
}

// asActors starts critics as actors are: read-only, most of them could not
// build. The user's own agents keep the command that they have for a critic.
func (c Cast) asActors(cfg *config.Config) Cast {
	c = slices.Clone(c)
	for i, who := range c {
		if _, own := cfg.Agents[who.Spec.Name]; !own {
			c[i].Spec.ReadOnly = who.Spec.Write
		}
	}
	return c
}

// Lacks says that a critic cannot run tests, as a sentence with what to do; "" when it
// can.
func (p Player) Lacks(cfg *config.Config) string {
	if p.Role != loop.RoleCritic || p.Spec.CanOnly == "" || MayBuild(cfg) {
		return ""
	}
	return fmt.Sprintf("the critic %s can only %s, not run tests (give it some with --check, or let it: --critic-view auto --critic-access full)",
		p.Spec.Name, p.Spec.CanOnly)
}
