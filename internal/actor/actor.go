// Package actor plays the actor's turns with an agent.
package actor

import (
	"context"

	"codeloops/internal/agent"
	"codeloops/internal/loop"
	"codeloops/internal/template"
)

// An Agent plays one turn. However the turn ends is a reply; an error means
// that there was none. [agent.Agent] is one.
type Agent interface {
	Run(context.Context, agent.Request) (agent.Reply, error)
}

// An Actor is a [loop.Actor] that asks an agent. It keeps no state.
type Actor struct {
	Agent Agent
	// Resume carries on the agent's conversation over the iterations. The prompt
	// is the same either way, so that a new one lacks nothing when the old one
	// cannot be carried on.
	Resume bool
	// Refine is what the agent is asked from the second iteration on; nil is
	// codeloops' own words.
	Refine template.Template
}

var _ loop.Actor = (*Actor)(nil)

// Act hands the brief to the agent as a prompt. A turn that was interrupted is
// an attempt like any other; errors are the agent's.
func (a *Actor) Act(ctx context.Context, b loop.Brief, watch loop.Watch) (loop.Attempt, error) {
	r := agent.Request{ID: b.ID, Role: loop.RoleActor, Iteration: b.Iteration, Prompt: a.prompt(b), Watch: watch}
	if a.Resume {
		r.Conversation = b.Conversation
	}
	reply, err := a.Agent.Run(ctx, r)
	return loop.Attempt{Turn: reply.Turn}, err
}
