// Package actor plays the actor's turns with an agent.
package actor

import (
	"cmp"
	"context"

	"codeloops/internal/agent"
	"codeloops/internal/agent/seat"
	"codeloops/internal/loop"
	"codeloops/internal/prompt"
)

// An Actor is a [loop.Actor] that asks an agent. It keeps no state.
type Actor struct {
	Seats seat.Seats
	// Resume continues the agent's conversation in later iterations. The prompt is the
	// same either way, so that nothing is lost when a conversation cannot be continued.
	Resume bool
	// Instructions are what the user tells it in addition.
	Instructions string
	// Template is the prompt; nil is codeloops' own.
	Template prompt.Template
	// Refine is the prompt from the second iteration on; nil is codeloops' own.
	Refine prompt.Template
}

var _ loop.Actor = (*Actor)(nil)

// Act sends the brief to the agent as a prompt. An interrupted turn is an attempt like
// any other; errors are the agent's.
func (a *Actor) Act(ctx context.Context, b loop.Brief, watch loop.Watch) (loop.Attempt, error) {
	r := agent.Request{ID: b.ID, Step: b.Step, Role: cmp.Or(b.Role, loop.RoleActor), Access: loop.Write, Iteration: b.Iteration, Prompt: a.prompt(b), Watch: watch}
	if a.Resume {
		r.Conversation = b.Conversation
	}
	reply, err := a.Seats.For(r.Access, b.Role).Writer.Run(ctx, r)
	return loop.Attempt{Turn: reply.Turn}, err
}

// First returns the prompt of the first turn on a task, without what checks have found.
func (a *Actor) First(task string) string { return a.prompt(loop.Brief{Iteration: 1, Task: task}) }
