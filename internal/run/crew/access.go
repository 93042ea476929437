package crew

import (
	"fmt"
	"slices"
	"strings"

	"codeloops/internal/agent"
	"codeloops/internal/config"
	"codeloops/internal/loop"
	"codeloops/internal/view"
	"codeloops/internal/wording"
)

// MayBuild reports whether critics are started with write access, so that they can build. In the
// user's own work tree they never are.
func MayBuild(cfg *config.Config) bool {
	return cfg.CriticView != string(view.Tree) && cfg.CriticAccess == "full"
}

// Reading returns the cast for turns in which it may not write, such as a look at its own work.
func (c Cast) Reading(cfg *config.Config) Cast {
	c = slices.Clone(c)
	for i := range c {
		c[i].reads(cfg)
	}
	return c
}

// reads gives the player turns in which it may not write. Critics that may build are started like
// actors, because most agents cannot build with read-only access. The user's own agents keep their
// command for critics.
func (p *Player) reads(cfg *config.Config) {
	p.Access = loop.ReadOnly
	if _, own := cfg.Agents[p.Spec.Name]; !own && MayBuild(cfg) {
		p.Spec.ReadOnly = p.Spec.Write
		p.Spec.Talk.ReadOnly, p.Spec.Talk.Allow = p.Spec.Talk.Write, true
	}
}

// Caveats are sentences about what a critic cannot do, or does besides judging, and what to do
// about it.
func (p Player) Caveats(cfg *config.Config) (all []string) {
	if p.Role != loop.RoleCritic {
		return nil
	}
	if p.Spec.CanOnly != "" && !MayBuild(cfg) {
		all = append(all, fmt.Sprintf("the critic %s can only %s, not run tests (give it some with --check, or let it: --critic-view auto --critic-access full)",
			p.Spec.Name, p.Spec.CanOnly))
	}
	if takes := p.Spec.WithoutProject.Except; takes != "" {
		all = append(all, fmt.Sprintf("the critic %s takes %s from the work tree, where the actor may have written them (these take nothing: %s)",
			p.Spec.Name, takes, strings.Join(takeNothing(), ", ")))
	}
	if p.Spec.AddsMentions {
		all = append(all, fmt.Sprintf("the critic %s adds each file of the work tree to its evidence that is mentioned there with an @", p.Spec.Name))
	}
	return all
}

// Wary returns the player as it is started for a turn that may change files, in the work tree at
// root, "" for the user's own: without what the user does not trust there, as far as its CLI can do that.
// The sentences say so.
func (c *Casting) Wary(p Player, root string) (_ Player, told []string) {
	u := p.Spec.Untrusted
	without, anyway := c.cfg.Distrusted(root, u.Files), c.cfg.Distrusted(root, u.Anyway)
	if p.Access != loop.Write || len(without)+len(anyway) == 0 || p.Spec.Trusts(c.cfg.ProjectDirs(), c.host.Environ, c.host.Home()) {
		return p, nil
	}
	const remedy = "read it, then run codeloops config trust"
	if len(without) > 0 {
		p.Spec = p.Spec.Wary()
		told = append(told, fmt.Sprintf("the %s %s is started without %s: it could run something, and you do not trust it (%s)",
			p.Role, p.Spec.Name, wording.List(without, mostNamed), remedy))
	}
	if len(anyway) > 0 {
		told = append(told, fmt.Sprintf("the %s %s runs what %s says, although you do not trust it: nothing keeps it from that (%s)",
			p.Role, p.Spec.Name, wording.List(anyway, mostNamed), remedy))
	}
	return p, told
}

// Runs are globs for the files of a work tree from which agents of the catalogue run something.
func Runs() (globs []string) {
	for _, s := range agent.Catalogue() {
		globs = append(globs, s.Untrusted.Files...)
		globs = append(globs, s.Untrusted.Anyway...)
	}
	slices.Sort(globs)
	return slices.Compact(globs)
}

// mostNamed is how many files a sentence names.
const mostNamed = 5

// takeNothing names the agents of the catalogue that take nothing from the work tree as critics.
func takeNothing() (names []string) {
	for _, s := range agent.Catalogue() {
		if w := s.WithoutProject; w.Except == "" && len(w.Args)+len(w.Env) > 0 {
			names = append(names, s.Name)
		}
	}
	return names
}
