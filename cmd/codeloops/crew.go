package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"codeloops/internal/agent"
	"codeloops/internal/config"
	"codeloops/internal/estimate"
	"codeloops/internal/loop"
)

// scriptedName is the agent that plays a scenario instead of asking a model.
const scriptedName = "scripted"

// A player is who plays one role: found, but not yet bound to a session.
type player struct {
	role   loop.Role
	spec   agent.Spec
	model  string
	path   string // of the program
	limits agent.Limits
	prices estimate.Prices
	// chosen says why "auto" came to it; "" when it was named.
	chosen string
	// unnamed is set where nobody has named an agent.
	unnamed bool
}

func (p player) ref() loop.AgentRef {
	return loop.AgentRef{Agent: p.spec.Name, Model: p.model}
}

// A cast is who plays one role: the preferred player first, then those that
// play on when it cannot go on.
type cast []player

// fallback names all but the first.
func (c cast) fallback() []loop.AgentRef {
	var refs []loop.AgentRef
	for _, p := range c[1:] {
		refs = append(refs, p.ref())
	}
	return refs
}

// crew finds the agents of a configuration. Whatever is wrong with them is said
// here, before anything is started.
func (a *app) crew(ctx context.Context, cfg *config.Config, o *runOptions, dir string) (actor, critic cast, err error) {
	if o.script != "" && !slices.Contains(named(cfg), scriptedName) {
		return nil, nil, usagef("add --agent "+scriptedName, "--script is given, but no role is played by the agent %q", scriptedName)
	}
	specs, err := a.specs(cfg, o)
	if err != nil {
		return nil, nil, err
	}
	c := casting{app: a, cfg: cfg, specs: specs, dir: dir}
	if actor, err = c.cast(ctx, loop.RoleActor, cfg.Actor); err != nil {
		return nil, nil, err
	}
	if err := mayResume(cfg, actor[0].spec); err != nil {
		return nil, nil, err
	}
	c.actor = actor[0].spec.Name
	if critic, err = c.cast(ctx, loop.RoleCritic, cfg.Critic); err != nil {
		return nil, nil, err
	}
	return actor, critic, errors.Join(actor.mayCost(cfg), critic.mayCost(cfg))
}

// resume is the actor_session that carries conversations on.
const resume = "resume"

// mayResume refuses to carry on conversations with an agent that cannot.
func mayResume(cfg *config.Config, spec agent.Spec) error {
	if cfg.ActorSession != resume || spec.Resumes() {
		return nil
	}
	var able []string
	for _, s := range agent.Catalogue() {
		if s.Resumes() {
			able = append(able, s.Name)
		}
	}
	return usagef("set --actor-session fresh, or choose one that can: "+strings.Join(able, ", "),
		"actor_session is %q, but the agent %s cannot carry on a conversation", resume, spec.Name)
}

// named lists every agent that a configuration gives a role to, as it is
// spelled there.
func named(cfg *config.Config) []string {
	var names []string
	for _, r := range []config.Role{cfg.Actor, cfg.Critic} {
		names = append(names, r.Agent)
		if r.Agent == autoName {
			names = append(names, cfg.AgentOrder...)
		}
		for _, entry := range r.Fallback {
			name, _, _ := strings.Cut(entry, ":")
			names = append(names, name)
		}
	}
	return names
}

// A casting looks for the players of one configuration.
type casting struct {
	app   *app
	cfg   *config.Config
	specs []agent.Spec // those that the catalogue does not hold
	dir   string
	actor string // the agent that plays the actor, once it is known
}

// cast finds the players of a role. One that is named twice plays once.
func (c casting) cast(ctx context.Context, role loop.Role, r config.Role) (players cast, err error) {
	switch {
	case c.isAuto(r.Agent):
		players, err = c.auto(ctx, role, r)
	case c.unnamed(role, r):
		players = make(cast, 1)
		players[0], err = c.firstHere(role, r)
	default:
		players = make(cast, 1)
		players[0], err = c.find(role, r, r.Agent, r.Model)
		players[0].prices = estimate.Prices{Input: r.PriceInput, Output: r.PriceOutput} // of a model, and so not of the others
	}
	if err != nil {
		return nil, err
	}
	for _, entry := range r.Fallback {
		name, model, _ := strings.Cut(entry, ":")
		p, err := c.find(role, r, name, model)
		if err != nil {
			return nil, fmt.Errorf("fallback of the %s: %w", role, err)
		}
		if !slices.ContainsFunc(players, func(o player) bool { return o.ref() == p.ref() }) {
			players = append(players, p)
		}
	}
	return players, nil
}

func (c casting) find(role loop.Role, r config.Role, name, model string) (p player, err error) {
	p = player{role: role, model: model}
	if p.spec, err = agent.Find(name, c.specs...); err != nil {
		return p, fmt.Errorf("find the %s: %w", role, err)
	}
	p.limits = agent.Limits{
		Timeout: r.Timeout, Idle: r.IdleTimeout,
		MaxOutput: int64(c.cfg.MaxOutput), Keep: int64(c.cfg.LogOutput),
	}
	// Silence means something only where an agent prints as it works.
	if !p.spec.Streams && c.cfg.Origin(string(role)+".idle_timeout").Layer == config.Default {
		p.limits.Idle = 0
	}
	if p.path, err = p.spec.Resolve(role, c.dir, c.app.env); err == nil {
		err = p.spec.Equipped(c.app.env)
	}
	return p, err
}

// specs returns the agents that the catalogue does not hold: the user's own,
// and the scripted one.
func (a *app) specs(cfg *config.Config, o *runOptions) ([]agent.Spec, error) {
	var specs []agent.Spec
	for _, name := range slices.Sorted(maps.Keys(cfg.Agents)) {
		own := cfg.Agents[name]
		spec, err := agent.Custom(name, agent.Own{
			Command: own.Command, CriticCommand: own.CriticCommand,
			Prompt: own.Prompt, Output: own.Output,
			ModelArgs: own.ModelArgs, SessionArgs: own.SessionArgs, ResumeArgs: own.ResumeArgs, Env: own.Env, Install: own.Install,
		})
		if err != nil {
			return nil, err
		}
		specs = append(specs, spec)
	}
	if _, own := cfg.Agents[scriptedName]; own || !slices.Contains(named(cfg), scriptedName) {
		return specs, nil
	}
	if o.script == "" {
		return nil, usagef("name its scenario with --script FILE; docs/scripted-agent.md tells the format",
			"the agent %q needs a scenario", scriptedName)
	}
	spec, err := scriptedSpec(resolve(a.dir, o.script))
	return append(specs, spec), err
}

// scriptedSpec is this very program, playing a scenario.
func scriptedSpec(script string) (agent.Spec, error) {
	if _, err := os.Stat(script); err != nil {
		return agent.Spec{}, fmt.Errorf("read the scenario: %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return agent.Spec{}, fmt.Errorf("find this program, to play the scenario: %w", err)
	}
	args := []string{scriptedCommand, "--script", filepath.Clean(script)}
	return agent.Spec{
		Name: scriptedName, Binaries: []string{self},
		Actor: args, Critic: args,
		Prompt: agent.Stdin, Output: agent.Text, Streams: true,
	}, nil
}
