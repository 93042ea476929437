package strategy

import (
	"context"
	"strings"

	"codeloops/internal/critic/verdict"
	"codeloops/internal/loop"
)

// ReAct has one agent work until the project's checks pass or, if there are none, until it says
// that it is done. No critic is asked.
type ReAct struct {
	MaxTurns int // of the actor; 0: only the run's limits apply
}

const sayDone = `When everything that the task asks for is there and works, and only then, end your reply with these lines, as plain text and with nothing after them:

DECISION: DONE
SUMMARY: <what was achieved>`

func react() Kind {
	return Kind{
		Name: NameReAct, About: "one agent works until the checks pass or, where there are none, until it says DONE; no critic is asked",
		When: "the checks cover everything that matters", Turns: "1 of the actor", Parameters: []Parameter{maxTurns()},
		most:  func(c Choice, n int) int { return fewer(n, c.count(keyMaxTurns)) },
		build: func(c Choice) (loop.Strategy, error) { return ReAct{MaxTurns: c.count(keyMaxTurns)}, nil },
	}
}

// Run implements [loop.Strategy].
func (r ReAct) Run(ctx context.Context, steps *loop.Steps) (loop.Outcome, error) {
	defer steps.Bound(r.MaxTurns, keyMaxTurns)()
	return untilOver(ctx, steps, func(ctx context.Context, it *loop.Iteration) error {
		if !it.Checked() {
			defer steps.Instruct(sayDone)()
		}
		if ruled, err := worked(ctx, it); ruled || err != nil {
			return err
		}
		return it.Conclude(ctx, conclusion(it.Case()))
	})
}

// conclusion returns the verdict that follows from the checks, or from what the actor says.
func conclusion(c loop.Case) loop.Verdict {
	bad := failing(c.Checks)
	switch {
	case c.Attempt.Ending != loop.EndCompleted:
		return loop.Verdict{Decision: loop.Continue, Feedback: "Your last turn did not come to its own end. Go on with the task."}
	case len(bad) > 0:
		return loop.Verdict{Decision: loop.Continue, Feedback: "These checks do not pass: " + strings.Join(bad, "; ")}
	case len(c.Checks) > 0:
		return loop.Verdict{Decision: loop.Done, Summary: "every check passes"}
	}
	if v, ok := verdict.ReadActor(c.Attempt.Stdout.Text); ok && v.Decision == loop.Done {
		return v
	}
	return loop.Verdict{Decision: loop.Continue, Feedback: "You have not said that the task is done, in the form that was asked for."}
}
