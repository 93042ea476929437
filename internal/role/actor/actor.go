// Package actor plays the actor's turns with an agent.
package actor

import (
	"cmp"
	"context"

	"codeloops/internal/agent"
	"codeloops/internal/loop"
	"codeloops/internal/role/prompt"
)

// An Actor is a [loop.Actor] that asks an agent. It keeps no state.
type Actor struct {
	Agent agent.Player
	// Others are the agents of other roles, which a strategy may have play.
	Others map[loop.Role]agent.Player
	// Resume continues the agent's conversation over the iterations. The prompt
	// is the same either way, so that a new one lacks nothing when the old one
	// cannot be continued.
	Resume bool
	// Refine is what the agent is asked from the second iteration on; nil is
	// codeloops' own words.
	Refine prompt.Template
}

var _ loop.Actor = (*Actor)(nil)

// Act hands the brief to the agent as a prompt. A turn that was interrupted is
// an attempt like any other; errors are the agent's.
func (a *Actor) Act(ctx context.Context, b loop.Brief, watch loop.Watch) (loop.Attempt, error) {
	r := agent.Request{ID: b.ID, Step: b.Step, Role: cmp.Or(b.Role, loop.RoleActor), Access: loop.Write, Iteration: b.Iteration, Prompt: a.prompt(b), Watch: watch}
	if a.Resume {
		r.Conversation = b.Conversation
	}
	who := a.Agent
	if other, ok := a.Others[b.Role]; ok {
		who = other
	}
	reply, err := who.Run(ctx, r)
	return loop.Attempt{Turn: reply.Turn}, err
}
