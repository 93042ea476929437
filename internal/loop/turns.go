package loop

import (
	"context"
	"fmt"
	"strings"
)

// A Call is what an agent is asked in a turn of a strategy's own, as a planner, a debater
// or a judge.
type Call struct {
	Step   Step   // of the turn; one of its own
	ID     string // names the turn, see [Turn.ID]; set by [Steps.Turns]
	Role   Role
	Access Access
	// As is whose agent plays the turn; "": the actor's where it may write, else the
	// critic's.
	As Role
	// Prompt is the question. Where a Case is set, it stands behind that, laid out as for a
	// critic.
	Prompt string
	Case   *Case
	// Judges: the turn judges the work of an iteration that is over, and is part of what that may
	// take. A limit on iterations does not hold it up.
	Judges bool
	// Conversation is the one to be carried on; the zero value begins another.
	Conversation Conversation
}

// A Reply is one turn with what the agent said in the end.
type Reply struct {
	Turn
	Text string
	// Written is what the turn wrote in its view of the work tree, and was thrown away. It
	// is no part of the session log by itself.
	Written Written
}

// A Player plays the turns of a strategy's own. It may be asked for several at the same
// time. A turn that ends badly is a Reply, not an error; an error means that no turn
// could be run at all, and ends the run.
type Player interface {
	Play(context.Context, Call, Watch) (Reply, error)
}

// TurnStarted says that an agent is at work in a turn of a strategy's own.
type TurnStarted struct {
	Iteration int // 0: in none
	Role      Role
	Access    Access
}

// TurnFinished closes such a turn.
type TurnFinished struct {
	Iteration int
	Role      Role
	Access    Access
	Reply     Reply
	// Review is what the turn of a panel's member came to, on that State of the work tree, but for
	// the turn and the reply, which are those above.
	Review *Review
	State  string
}

func (e TurnStarted) iteration() int  { return e.Iteration }
func (e TurnFinished) iteration() int { return e.Iteration }

// Turns plays turns of the strategy's own, as many at the same time as may be, and returns what each
// came to, in their order. Those that stand in the journal are not played again. The
// error is of the first one that could not be run, or whose agent cannot work until a
// person does something about it; the others are ended then.
func (s *Steps) Turns(ctx context.Context, calls ...Call) ([]Reply, error) {
	s.aside()
	replies := make([]Reply, len(calls))
	var due []int
	for i, call := range calls {
		if e, ok := s.journal.find(call.Step); ok {
			if was, ok := e.(TurnFinished); ok {
				replies[i] = was.Reply
				continue
			}
		}
		due = append(due, i)
	}
	if len(due) == 0 {
		return replies, nil
	}
	if err := s.journal.rest(); err != nil {
		return nil, err
	}
	if err := s.goLive(ctx); err != nil {
		return nil, err
	}
	return replies, s.play(ctx, calls, due, replies)
}

// play plays the turns that are due, each as soon as the budgets allow it beside those under way.
func (s *section) play(ctx context.Context, calls []Call, due []int, replies []Reply) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s.loop.atOnce(len(due), func(n int) {
		i := due[n]
		err := s.await(ctx, calls[i].Step, true)
		if err == nil {
			err = s.reserve(ctx, calls[i].Role, calls[i].Judges)
		}
		if err == nil {
			replies[i], err = s.turn(ctx, calls[i])
			s.spend(calls[i].Role, replies[i].Turn)
			s.release(calls[i].Role)
		}
		if err != nil {
			cancel(err)
		}
	})
	return context.Cause(ctx)
}

// turn plays one turn. It may be called from any goroutine.
func (s *section) turn(ctx context.Context, call Call) (Reply, error) {
	n := call.Step.Iteration()
	if err := s.emit(call.Step, TurnStarted{Iteration: n, Role: call.Role, Access: call.Access}); err != nil {
		return Reply{}, err
	}
	if call.As == "" && call.Access == Write {
		call.As = s.actor
	}
	if s.session.ID != "" {
		call.ID = s.session.ID + "__" + strings.ReplaceAll(string(call.Step), ".", "_")
	}
	reply, err := s.at.Player.Play(ctx, call, s.watch(call.Step, call.Role))
	if err != nil {
		return reply, fmt.Errorf("run the %s: %w", call.Role, err)
	}
	reply.ID = call.ID
	if err := s.emit(call.Step, TurnFinished{Iteration: n, Role: call.Role, Access: call.Access, Reply: reply}); err != nil {
		return reply, err
	}
	if err := s.late(call.Step, call.Role, reply.Turn); err != nil {
		return reply, err
	}
	if err := s.tell(call.Step, "the "+string(call.Role), reply.Written); err != nil {
		return reply, err
	}
	return reply, blocked(call.Role, reply.Turn)
}
