// Package strategy holds the ways of driving agents: ordinary code over the steps of a run, which
// package loop provides.
package strategy

import (
	"context"

	"codeloops/internal/loop"
)

// ActorCritic has an actor work and a critic judge, and passes the critic's feedback back to the
// actor until the critic says DONE or a rule ends the run.
type ActorCritic struct{}

var _ loop.Strategy = ActorCritic{}

func actorCritic() Kind {
	return Kind{
		Name: NameActorCritic, About: "an actor works, a critic judges, and its feedback goes back until it says DONE",
		When: "the default: somebody else than the author decides", Turns: "1 of the actor, 1 of the critic",
		most:  func(_ Choice, n int) int { return times(n, 2) },
		build: func(Choice) (loop.Strategy, error) { return ActorCritic{}, nil },
	}
}

// Run implements [loop.Strategy].
func (ActorCritic) Run(ctx context.Context, steps *loop.Steps) (loop.Outcome, error) {
	return untilOver(ctx, steps, iterate)
}

// untilOver plays iterations until one of them ends the run.
func untilOver(ctx context.Context, steps *loop.Steps, play func(context.Context, *loop.Iteration) error) (loop.Outcome, error) {
	for {
		round, err := steps.Iterate(ctx, play)
		if err != nil {
			return loop.Outcome{}, err
		}
		if end, over := steps.Over(round); over {
			return end, nil
		}
	}
}

// iterate is one round:
//
//	ACTOR_EXECUTING → CAPTURING_DIFF → VERIFYING → CRITIC_EVALUATING → DONE, CONTINUE or ERROR
func iterate(ctx context.Context, it *loop.Iteration) error {
	if ruled, err := worked(ctx, it); ruled || err != nil {
		return err
	}
	return it.Judge(ctx)
}

// worked plays a round up to its verdict, which the rules of the run may give.
func worked(ctx context.Context, it *loop.Iteration) (ruled bool, err error) {
	if err := it.Act(ctx); err != nil {
		return false, err
	}
	if err := it.Capture(ctx); err != nil {
		return false, err
	}
	if ruled, err := it.Inspect(); ruled || err != nil {
		return ruled, err
	}
	return false, it.Verify(ctx)
}
