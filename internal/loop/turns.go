package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// A Call is what an agent is asked in one of the strategy's own turns, for example as a planner,
// a debater or a judge.
type Call struct {
	Step   Step   // of the turn; unique
	ID     string // see [Turn.ID]; set by [Steps.Turns]
	Role   Role
	Access Access
	// As is the role whose agent plays; "": the actor's if the turn may write, else the critic's.
	As Role
	// Prompt is what the role is asked to do; a template of the user's may take its place. Form
	// follows in any case: how to reply, and what the question is about. If Case is set, the case
	// follows as well, laid out as for a critic.
	Prompt, Form string
	Case         *Case
	// Workers describes those whom the role chooses among. Task is what the whole is about; it is set
	// by [Steps.Turns]. Both are for a template.
	Workers, Task string
	// Ask is how often the same was asked before; set by [Steps.Turns].
	Ask int
	// Judges: the turn judges the work of a finished iteration and counts as part of it, so a
	// limit on iterations does not block it.
	Judges bool
}

// A Reply is a finished turn and the agent's final text.
type Reply struct {
	Turn
	Text string
	// Written is what the turn wrote in its view of the work tree, and what was discarded. It is
	// not logged separately.
	Written Written
}

// A Player plays a strategy's own turns. It must be safe for concurrent use. A turn that ends
// badly is a Reply, not an error; an error means that no turn could be started, and ends the run.
type Player interface {
	Play(context.Context, Call, Watch) (Reply, error)
}

// TurnStarted says that one of a strategy's own turns has begun.
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
	// Review is set for a panel member: its verdict on the given State of the work tree. The turn
	// and the text are in Reply.
	Review *Review
	State  string
}

func (e TurnStarted) iteration() int  { return e.Iteration }
func (e TurnFinished) iteration() int { return e.Iteration }

// Turns plays turns of the strategy's own concurrently, as far as Jobs allows, and returns their
// replies in order. Turns that are in the journal are not played again. The error is that of the
// first turn that could not be run, or whose agent cannot work until a person does something. No
// other turn begins then; those that have begun end by themselves unless the run itself has failed,
// because they would be paid again.
func (s *Steps) Turns(ctx context.Context, calls ...Call) ([]Reply, error) {
	s.markOwnStep()
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

// NoteMeddled is the note of [Steps.Meddled].
const NoteMeddled = "turn.meddled"

// Meddled says what a turn that judges has changed of what was there, or what it ran; "" is nothing,
// and new files are no matter. What it judged is not the work, so it is asked again.
func (s *Steps) Meddled(ctx context.Context, call Call, reply Reply) (changed string, err error) {
	if !call.Judges {
		return "", nil
	}
	step := call.Step.Sub("meddled")
	if n, known := s.noted(step, NoteMeddled); known {
		return n.Text, nil
	}
	files := slices.Concat(reply.Written.Changed, reply.Written.Settings)
	if len(files) == 0 {
		return "", nil
	}
	n, err := s.playNote(ctx, step, NoteMeddled, func() (n Noted, _ error) {
		n.Text = "it changed what was there, which is thrown away: " + listed(files) + ". Look at the work as it is"
		return n, nil
	})
	return n.Text, err
}

// Strict reports whether the run takes nothing on trust.
func (s *Steps) Strict() bool { return s.strict() }

// play plays the remaining turns, each as soon as the budgets allow it beside the running ones.
func (s *section) play(ctx context.Context, calls []Call, due []int, replies []Reply) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s.loop.concurrently(len(due), func(n int) {
		i := due[n]
		err := cmp.Or(s.halting(), s.await(ctx, calls[i].Step, true))
		if err == nil {
			err = s.admit(ctx, calls[i].Judges, calls[i].Role)
		}
		if err == nil {
			replies[i], err = s.turn(ctx, calls[i])
			s.spend(calls[i].Role, replies[i].Turn)
			s.release(calls[i].Role)
		}
		if err != nil {
			s.halt(err, cancel)
		}
	})
	return cmp.Or(context.Cause(ctx), s.halting())
}

// halt ends the run for a turn that could not be played. It cuts the others only if something of ours
// is broken.
func (c *course) halt(err error, cut context.CancelCauseFunc) {
	if _, stops := errors.AsType[*stopError](err); !stops {
		cut(err)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.halted = cmp.Or(c.halted, err)
}

// halting is the error for which no turn begins any more, or nil.
func (c *course) halting() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.halted
}

// turn plays one turn. It is safe for concurrent use.
func (s *section) turn(ctx context.Context, call Call) (Reply, error) {
	n := call.Step.Iteration()
	if err := s.hear(); err != nil {
		return Reply{}, err
	}
	if err := s.emit(call.Step, TurnStarted{Iteration: n, Role: call.Role, Access: call.Access}); err != nil {
		return Reply{}, err
	}
	if call.As == "" && call.Access == Write {
		call.As = s.actor
	}
	call.ID, call.Form, call.Task = s.idOf(call.Step), s.add(call.Form), s.Task()
	if n, err := strconv.Atoi(call.Step.Name()); err == nil { // see [asked]
		call.Ask = n - 1
	}
	reply, err := s.at.Player.Play(ctx, call, s.watch(call.Step, call.Role))
	if err != nil {
		return reply, fmt.Errorf("run the %s: %w", call.Role, err)
	}
	reply.ID = call.ID
	return reply, cmp.Or(
		s.emit(call.Step, TurnFinished{Iteration: n, Role: call.Role, Access: call.Access, Reply: reply}),
		s.late(call.Step, call.Role, reply.Turn),
		s.tell(call.Step, "the "+string(call.Role), reply.Written),
		blocked(call.Role, reply.Turn),
	)
}
