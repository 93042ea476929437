// Package seat plays the turns of agents in the roles that they have been given.
package seat

import (
	"context"
	"errors"

	"codeloops/internal/agent"
	"codeloops/internal/loop"
)

// A View shows the work tree to one turn, and keeps what the turn writes out of it.
type View interface {
	agent.Starter
	Dir(dir string) string
	Written(ctx context.Context) (loop.Written, error)
	Close() error
}

// ReadOnlyPlayer plays an agent's read-only turns, each in a view of the work tree.
type ReadOnlyPlayer struct {
	Agent agent.Player
	// Open opens a view for a turn; nil: the agent works in the user's work tree.
	Open func(context.Context) (View, error)
	// Place is the working directory in the work tree, absolute.
	Place string
}

// Play plays a turn, and returns what it wrote in its view, which is then thrown away.
func (g ReadOnlyPlayer) Play(ctx context.Context, r agent.Request) (reply agent.Reply, w loop.Written, err error) {
	if g.Open == nil {
		reply, err = g.Agent.Run(ctx, r)
		return reply, w, err
	}
	v, err := g.Open(ctx)
	if err != nil {
		return reply, w, err
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	r.Dir, r.Starter = v.Dir(g.Place), v
	if reply, err = g.Agent.Run(ctx, r); err != nil {
		return reply, w, err
	}
	w, err = v.Written(ctx)
	return reply, w, err
}

// A Seat is the agent of a role, for turns that may write and for those that may not.
type Seat struct {
	Writer agent.Player
	Reader ReadOnlyPlayer
}

// Seats are the agents of the actor, the critic, and the roles with an agent of their own.
type Seats map[loop.Role]Seat

// For returns the first seat that one of the roles has; else that of the actor for a turn that may
// write, and of the critic for one that may not.
func (s Seats) For(access loop.Access, roles ...loop.Role) Seat {
	for _, role := range roles {
		if seat, ok := s[role]; ok {
			return seat
		}
	}
	if access == loop.Write {
		return s[loop.RoleActor]
	}
	return s[loop.RoleCritic]
}

// A Player is a [loop.Player]: it plays a strategy's own turns.
type Player struct {
	Seats Seats
	// Question is the text of what a role is asked.
	Question func(loop.Call) string
	// Evidence writes the prompt for a question about a case.
	Evidence func(question string, matter loop.Case) (string, error)
}

var _ loop.Player = Player{}

// Play implements [loop.Player]. When the context is done, the error is its cause.
func (p Player) Play(ctx context.Context, c loop.Call, watch loop.Watch) (loop.Reply, error) {
	r := agent.Request{
		ID: c.ID, Step: c.Step, Role: c.Role, Access: c.Access, Iteration: c.Step.Iteration(), Watch: watch,
		Repeat: agent.Repeat{Ask: c.Ask}, Prompt: p.Question(c),
	}
	var reply agent.Reply
	var written loop.Written
	var err error
	if c.Case != nil {
		matter := *c.Case
		matter.Step = c.Step
		if r.Prompt, err = p.Evidence(r.Prompt, matter); err != nil {
			return loop.Reply{}, err
		}
	}
	seat := p.Seats.For(c.Access, c.Role, c.As)
	if c.Access == loop.Write {
		reply, err = seat.Writer.Run(ctx, r)
	} else if reply, written, err = seat.Reader.Play(ctx, r); err == nil {
		err = context.Cause(ctx) // its reply decides something, so it must be complete
	}
	return loop.Reply{Turn: reply.Turn, Text: reply.Text, Written: written}, err
}
