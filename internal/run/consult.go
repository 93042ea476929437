package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"codeloops/internal/actor"
	"codeloops/internal/agent"
	"codeloops/internal/agent/seat"
	"codeloops/internal/config"
	"codeloops/internal/loop"
	"codeloops/internal/proc"
	"codeloops/internal/prompt"
	"codeloops/internal/run/crew"
	"codeloops/internal/view"
	"codeloops/internal/wording/hint"
)

// A Consultation is what [Consult] asks an agent.
type Consultation struct {
	Role   loop.Role
	Agent  string // name or name:model; "": that of the critic
	Turn   int    // its number, from 1
	Again  int    // how often the same turn was played before
	Prompt string
}

// Consult plays one turn outside of any session: an agent looks at the work tree, in a view of it, and answers. It is
// started as a critic is. Nothing of the turn is kept.
func Consult(ctx context.Context, o Options, q Consultation) (reply string, err error) {
	o.Tell = nil // what it may say is about runs
	p, err := open(ctx, o, o.Host.Path(o.Dir))
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	p.settings = o.Settings
	if err := p.load(); err != nil {
		return "", err
	}
	if err := p.castOne(ctx, q.Agent); err != nil {
		return "", err
	}
	outputs, err := os.MkdirTemp("", "codeloops-consult-")
	if err != nil {
		return "", fmt.Errorf("make a directory for the agent's output: %w", err)
	}
	defer os.RemoveAll(outputs) //nolint:errcheck // the system cleans up its temporary directory
	r := &running{Plan: p, runner: proc.NewRunner(o.Host.Now)}
	defer func() { err = errors.Join(err, r.runner.Close()) }()
	return r.consult(ctx, q, outputs)
}

// castOne finds who is asked, as the critic.
func (p *Plan) castOne(ctx context.Context, name string) (err error) {
	script, _ := p.settings.Said("script")
	if p.casting, err = crew.New(p.options.Host, p.Config, p.Dir, script); err != nil {
		return err
	}
	if name == "" || name == crew.Auto {
		p.casting.Worked = &loop.AgentRef{} // there is no actor
		p.Players, err = p.casting.Find(ctx, nil)
		return err
	}
	who, err := p.casting.Player(loop.RoleCritic, loop.ParseAgent(name))
	p.Critic = crew.Cast{who}
	return err
}

func (r *running) consult(ctx context.Context, q Consultation, outputs string) (string, error) {
	place, err := r.findViews(ctx, r.tree, nil)
	if err != nil {
		return "", err
	}
	cfg, h := r.Config, r.options.Host
	who, err := r.casting.Bind(r.Critic, agent.Place{
		Starter: r.runner, Dir: r.Dir, Environ: config.Environment(h.Environ, cfg.EnvPass), EnvDeny: cfg.EnvDeny,
		HideSecrets: cfg.CriticEnv == "clean", EnvPass: cfg.EnvPass, Outputs: outputs, Session: filepath.Base(outputs), Now: h.Now,
	}, r.control)
	if err != nil {
		return "", err
	}
	reader := seat.ReadOnlyPlayer{Agent: who, Place: r.Dir}
	if place.Kind() != view.Tree {
		reader.Open = func(ctx context.Context) (seat.View, error) { return place.Open(ctx) }
	}
	reply, _, err := reader.Play(ctx, agent.Request{
		ID: filepath.Base(outputs), Step: loop.Step(fmt.Sprintf("%s_%d", q.Role, q.Turn)), Role: q.Role, Access: loop.ReadOnly, Iteration: 1,
		Repeat: agent.Repeat{Ask: q.Again}, Prompt: q.Prompt,
	})
	switch name := r.Critic[0].Spec.Name; {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil:
		return "", err
	case reply.Ending != loop.EndCompleted && reply.Reason != "":
		return "", hint.Errorf("choose another one: --agent NAME", "the turn of %s %s: %s", name, prompt.Ended(reply.Ending, reply.ExitCode), reply.Reason)
	case reply.Ending != loop.EndCompleted:
		return "", hint.Errorf("choose another one: --agent NAME", "the turn of %s %s", name, prompt.Ended(reply.Ending, reply.ExitCode))
	}
	return h.Secrets.String(reply.Text), nil
}

// Reads returns what the actor reads in the first turn of a run with a task, as far as that is known before the checks have run.
func Reads(cfg *config.Config, task string) (string, error) {
	own, err := prompt.ForTask(cfg.Actor.Template)
	if err != nil {
		return "", err
	}
	return (&actor.Actor{Instructions: cfg.Actor.Instructions, Template: own}).First(task), nil
}
