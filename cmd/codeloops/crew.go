package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"codeloops/internal/agent"
	"codeloops/internal/config"
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
}

func (p player) ref() loop.AgentRef {
	return loop.AgentRef{Agent: p.spec.Name, Model: p.model}
}

// players finds the two agents of a configuration. Whatever is wrong with
// them is said here, before anything is started.
func (a *app) players(cfg *config.Config, o *runOptions, dir string) (actor, critic player, err error) {
	specs, err := a.specs(cfg, o)
	if err != nil {
		return actor, critic, err
	}
	if o.script != "" && cfg.Actor.Agent != scriptedName && cfg.Critic.Agent != scriptedName {
		return actor, critic, usagef("add --agent "+scriptedName, "--script is given, but no role is played by the agent %q", scriptedName)
	}
	find := func(role loop.Role, r config.Role) (player, error) {
		p := player{role: role, model: r.Model}
		if p.spec, err = agent.Find(r.Agent, specs...); err != nil {
			return p, fmt.Errorf("find the %s: %w", role, err)
		}
		p.limits = agent.Limits{
			Timeout: r.Timeout, Idle: r.IdleTimeout,
			MaxOutput: int64(cfg.MaxOutput), Keep: int64(cfg.LogOutput),
		}
		// Silence means something only where an agent prints as it works.
		if !p.spec.Streams && cfg.Origin(string(role)+".idle_timeout").Layer == config.Default {
			p.limits.Idle = 0
		}
		p.path, err = p.spec.Resolve(role, dir, a.env)
		return p, err
	}
	if actor, err = find(loop.RoleActor, cfg.Actor); err != nil {
		return actor, critic, err
	}
	critic, err = find(loop.RoleCritic, cfg.Critic)
	return actor, critic, err
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
			ModelArgs: own.ModelArgs, Env: own.Env, Install: own.Install,
		})
		if err != nil {
			return nil, err
		}
		specs = append(specs, spec)
	}
	uses := cfg.Actor.Agent == scriptedName || cfg.Critic.Agent == scriptedName
	if _, own := cfg.Agents[scriptedName]; !uses || own {
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
