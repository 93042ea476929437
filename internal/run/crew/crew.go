// Package crew finds the agents of a run: installed, fit for their roles, and ready to be asked.
package crew

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"codeloops/internal/agent"
	"codeloops/internal/agent/pricing"
	"codeloops/internal/agent/scripted"
	"codeloops/internal/config"
	"codeloops/internal/config/host"
	"codeloops/internal/loop"
	"codeloops/internal/proc"
	"codeloops/internal/wording/hint"
)

// A Player is an agent for a role, not yet bound to a session.
type Player struct {
	Role   loop.Role
	Access loop.Access
	Spec   agent.Spec
	Model  string
	Path   string // of the program
	// Chosen says why "auto" chose it; "" if it was named.
	Chosen string
	// Unnamed: no agent was configured.
	Unnamed bool

	limits proc.Limits
	prices pricing.Prices
}

// Ref names the player in events and logs.
func (p Player) Ref() loop.AgentRef {
	return loop.AgentRef{Agent: p.Spec.Name, Model: p.Model}
}

// CommandLine returns the player's command line, with the path of its program.
func (p Player) CommandLine() []string {
	line := p.Spec.CommandLine(p.Access, p.Model)
	line[0] = p.Path
	return line
}

// Timeout is the time limit of its turns; 0: none.
func (p Player) Timeout() time.Duration { return p.limits.Timeout }

// A Cast is the players of one role: the preferred one, then those that take over when it cannot
// go on.
type Cast []Player

// Fallback returns all but the first.
func (c Cast) Fallback() []loop.AgentRef {
	var refs []loop.AgentRef
	for _, p := range c[1:] {
		refs = append(refs, p.Ref())
	}
	return refs
}

// Players are the players of all roles.
type Players struct {
	Actor, Critic Cast
	// Panel are the members of a panel, which judges in place of the critic. The first member is
	// also the critic for any other question to critics.
	Panel []Cast
	// Others play the other roles that have settings of their own.
	Others map[loop.Role]Cast
}

// Logged returns them as a log names them.
func (p Players) Logged() loop.Cast {
	return loop.Cast{
		Actor: p.Actor[0].Ref(), Critic: p.Critic[0].Ref(),
		ActorFallback: p.Actor.Fallback(), CriticFallback: p.Critic.Fallback(),
	}
}

// A Casting looks for the players of one configuration.
type Casting struct {
	// Around wraps each of the run's agents; nil: nothing does.
	Around func(TurnInfo, agent.Player) agent.Player
	// Worked is who did the work before the run, which then has no actor; nil: there is one.
	Worked *loop.AgentRef

	host  *host.Host
	cfg   *config.Config
	dir   string
	own   []agent.Spec
	actor string                    // the actor's agent, once known
	roles map[loop.Role]loop.Access // the actor and the roles of the strategy
}

// New starts a casting; dir is the agents' working directory, and script the scenario of the
// scripted agent, "" for none.
func New(h *host.Host, cfg *config.Config, dir, script string) (*Casting, error) {
	c := &Casting{host: h, cfg: cfg, dir: dir, roles: map[loop.Role]loop.Access{loop.RoleActor: loop.Write}}
	if script != "" && !slices.Contains(Named(cfg), scripted.Name) {
		return nil, hint.Errorf("add --agent "+scripted.Name, "--script is given, but no role is played by the agent %q", scripted.Name)
	}
	var err error
	c.own, err = specs(h, cfg, script)
	return c, err
}

// Own returns the agents outside of the catalogue: the user's own, and the scripted one.
func (c *Casting) Own() []agent.Spec { return c.own }

// Find returns the players: the actor, the critic, and the given other roles. Whatever is wrong
// with them is reported here, before anything is started.
func (c *Casting) Find(ctx context.Context, roles map[loop.Role]loop.Access) (p Players, err error) {
	maps.Copy(c.roles, roles)
	if p.Actor, err = c.actors(ctx); err != nil {
		return p, err
	}
	if p.Panel, err = c.Panel(); err != nil {
		return p, err
	}
	if len(p.Panel) > 0 {
		p.Critic = slices.Clone(p.Panel[0])
		p.Critic[0].Role = loop.RoleCritic
	} else if p.Critic, err = c.Role(ctx, loop.RoleCritic); err != nil {
		return p, err
	}
	playing := p.Critic
	if c.Worked == nil {
		playing = slices.Concat(p.Actor, p.Critic)
		err = c.checkCost(p.Actor)
	}
	if err := errors.Join(err, c.checkCost(p.Critic)); err != nil {
		return p, err
	}
	p.Others = map[loop.Role]Cast{}
	for _, name := range slices.Sorted(maps.Keys(c.cfg.Strategy.Roles)) {
		role := loop.Role(name)
		if _, plays := roles[role]; !plays {
			continue
		}
		if p.Others[role], err = c.other(ctx, role, p); err != nil {
			return p, err
		}
	}
	return p, c.Fit(slices.Concat(playing, slices.Concat(p.Panel...), slices.Concat(slices.Collect(maps.Values(p.Others))...)))
}

// actors returns the actor, and those that take over.
func (c *Casting) actors(ctx context.Context) (Cast, error) {
	if c.Worked != nil {
		c.actor = c.Worked.Agent
		return Cast{{Role: loop.RoleActor, Spec: agent.Spec{Name: c.Worked.Agent}, Model: c.Worked.Model}}, nil
	}
	players, err := c.Role(ctx, loop.RoleActor)
	if err == nil {
		err = checkResume(c.cfg, players[0].Spec)
	}
	return players, err
}

// Panel returns the members of the panel, none if there is one critic. The critic's settings
// apply to each of them. Members never take over for each other, because each has one vote.
func (c *Casting) Panel() (all []Cast, err error) {
	r := c.settings(loop.RoleCritic)
	var members Cast
	for i, entry := range c.cfg.Critic.Members {
		who, err := c.Player(loop.Member(i), loop.ParseAgent(entry))
		if err != nil {
			return nil, err
		}
		who.prices = pricing.Prices{Input: r.PriceInput, Output: r.PriceOutput}
		members = append(members, who)
	}
	for _, who := range members {
		one, err := c.withFallbacks(Cast{who}, who.Role, r, slices.Clip(members))
		if err == nil {
			err = c.checkCost(one)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// other returns the players of a role other than actor and critic.
func (c *Casting) other(ctx context.Context, role loop.Role, p Players) (players Cast, err error) {
	if c.cfg.Strategy.Names(string(role)) {
		players, err = c.Role(ctx, role)
	} else {
		like := p.Actor
		if c.roles[role] == loop.ReadOnly {
			like = p.Critic
		}
		players = slices.Clone(like)
		for i := range players {
			players[i].Role = role
			players[i].limits = c.limits(players[i])
		}
	}
	if err != nil {
		return nil, err
	}
	return players, c.checkCost(players)
}

// table returns the configuration table of a role.
func table(role loop.Role) string {
	switch {
	case role == loop.RoleActor || role == loop.RoleCritic:
		return string(role)
	case role.IsMember():
		return string(loop.RoleCritic)
	}
	return "strategy.roles." + string(role)
}

// settings returns the settings of a role.
func (c *Casting) settings(role loop.Role) config.Role {
	like := c.cfg.Critic.Role
	if c.roles[role] == loop.Write {
		like = c.cfg.Actor.Role
	}
	return c.cfg.Strategy.Role(string(role), like)
}

// Role returns the players of a role; it must be called for the actor first. An agent that is
// named twice plays once.
func (c *Casting) Role(ctx context.Context, role loop.Role) (players Cast, err error) {
	r := c.settings(role)
	switch {
	case c.isAuto(r.Agent):
		players, err = c.auto(ctx, role, r)
	case c.unnamed(role, r):
		players = make(Cast, 1)
		players[0], err = c.firstHere(role, r)
	default:
		players = make(Cast, 1)
		players[0], err = c.Player(role, loop.AgentRef{Agent: r.Agent, Model: r.Model})
		players[0].prices = pricing.Prices{Input: r.PriceInput, Output: r.PriceOutput} // of this model, not of the fallbacks
	}
	if err != nil {
		return nil, err
	}
	if role == loop.RoleActor {
		c.actor = players[0].Spec.Name
	}
	return c.withFallbacks(players, role, r, players)
}

// withFallbacks adds the fallbacks of a role, except those who play already.
func (c *Casting) withFallbacks(players Cast, role loop.Role, r config.Role, already Cast) (Cast, error) {
	for _, entry := range r.Fallback {
		p, err := c.Player(role, loop.ParseAgent(entry))
		if err != nil {
			return nil, fmt.Errorf("fallback of the %s: %w", role, err)
		}
		if !slices.ContainsFunc(already, func(o Player) bool { return o.Ref() == p.Ref() }) {
			players, already = append(players, p), append(already, p)
		}
	}
	return players, nil
}

// Player returns an agent for a role.
func (c *Casting) Player(role loop.Role, who loop.AgentRef) (p Player, err error) {
	p = Player{Role: role, Access: c.roles[role], Model: who.Model}
	if p.Spec, err = agent.Find(who.Agent, c.own...); err != nil {
		return p, fmt.Errorf("find the %s: %w", role, err)
	}
	if p.Access == loop.ReadOnly {
		p.reads(c.cfg)
	}
	p.limits = c.limits(p)
	if p.Path, err = p.Spec.Resolve(p.Access, c.dir, c.host.Environ); err == nil {
		err = p.Spec.Equipped(c.host.Environ)
	}
	return p, err
}

// limits returns the limits of a player's turns.
func (c *Casting) limits(p Player) proc.Limits {
	r := c.settings(p.Role)
	l := proc.Limits{
		Timeout: r.Timeout, Idle: r.IdleTimeout,
		MaxOutput: int64(c.cfg.MaxOutput), Keep: int64(c.cfg.LogOutput),
	}
	// Silence only means something if the agent prints while it works.
	if !p.Spec.Streams && c.cfg.Origin(table(p.Role)+".idle_timeout").Layer == config.Default {
		l.Idle = 0
	}
	return l
}

// Resume is the actor_session that continues conversations.
const Resume = "resume"

// checkResume rejects continued conversations with an agent that does not support them.
func checkResume(cfg *config.Config, spec agent.Spec) error {
	if cfg.ActorSession != Resume || spec.Resumes() {
		return nil
	}
	var able []string
	for _, s := range agent.Catalogue() {
		if s.Resumes() {
			able = append(able, s.Name)
		}
	}
	return hint.Errorf("set --actor-session fresh, or choose one that can: "+strings.Join(able, ", "),
		"actor_session is %q, but the agent %s cannot carry on a conversation", Resume, spec.Name)
}

// specs returns the agents outside of the catalogue: the user's own, and the scripted one.
func specs(h *host.Host, cfg *config.Config, script string) ([]agent.Spec, error) {
	var specs []agent.Spec
	for _, name := range slices.Sorted(maps.Keys(cfg.Agents)) {
		specs = append(specs, agent.Custom(name, agent.CustomConfig(cfg.Agents[name])))
	}
	if _, own := cfg.Agents[scripted.Name]; own || !slices.Contains(Named(cfg), scripted.Name) {
		return specs, nil
	}
	if script == "" {
		return nil, hint.Errorf("name its scenario with --script FILE; `codeloops help scripted-agent` describes the format",
			"the agent %q needs a scenario", scripted.Name)
	}
	spec, err := scriptedSpec(h.Path(script))
	return append(specs, spec), err
}

// scriptedSpec is this program itself, playing a scenario.
func scriptedSpec(script string) (agent.Spec, error) {
	if _, err := os.Stat(script); err != nil {
		return agent.Spec{}, fmt.Errorf("read the scenario: %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return agent.Spec{}, fmt.Errorf("find this program, to play the scenario: %w", err)
	}
	args := []string{scripted.Command, "--script", filepath.Clean(script)}
	return agent.Spec{
		Name: scripted.Name, Program: agent.Program{Binaries: []string{self}},
		Arguments: agent.Arguments{Write: args, ReadOnly: args},
		Protocol:  agent.Protocol{Prompt: agent.Stdin, Output: agent.Text, Streams: true},
	}, nil
}
