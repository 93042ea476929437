package progress

import (
	"testing"

	"codeloops/internal/loop"
)

func TestUsage(t *testing.T) {
	t.Parallel()
	tokens := loop.Tokens{Input: 1000, Output: 20, CacheRead: 300, CacheWrite: 70, Reasoning: 5}
	whole := loop.Usage{Tokens: &tokens, CostUSD: new(0.25), Rounds: new(2)}
	var sum Tally
	for _, e := range []loop.Event{
		loop.ActorFinished{Iteration: 1, Attempt: loop.Attempt{Turn: loop.Turn{Try: loop.Try{Usage: whole}}}},
		loop.ReviewRejected{Iteration: 1, Review: loop.Review{Turn: loop.Turn{Try: loop.Try{Usage: loop.Usage{CostUSD: new(0.5)}}}}},
		loop.CriticFinished{Iteration: 1, Review: loop.Review{Turn: loop.Turn{Try: loop.Try{Usage: whole}}}},
		loop.IterationFinished{Round: loop.Round{ // both have been counted already
			Iteration: 1, Attempt: loop.Attempt{Turn: loop.Turn{Try: loop.Try{Usage: whole}}}, Review: loop.Review{Turn: loop.Turn{Try: loop.Try{Usage: whole}}},
		}},
		loop.IterationFinished{Round: loop.Round{Iteration: 2, Attempt: loop.Attempt{Turn: loop.Turn{Try: loop.Try{Usage: whole}}}}},
	} {
		if err := sum.Handle(loop.Stamp{}, e); err != nil {
			t.Fatal(err)
		}
	}
	actor := Usage{
		Tokens:  loop.Tokens{Input: 2000, Output: 40, CacheRead: 600, CacheWrite: 140, Reasoning: 10},
		CostUSD: 0.5, Rounds: 4, Counted: 2, Priced: 2,
	}
	critic := Usage{Tokens: tokens, CostUSD: 0.75, Rounds: 2, Counted: 1, Priced: 2}
	if sum.Actor.Usage != actor || sum.Critic.Usage != critic {
		t.Errorf("got %+v and %+v, want %+v and %+v", sum.Actor.Usage, sum.Critic.Usage, actor, critic)
	}
	both := Usage{
		Tokens:  loop.Tokens{Input: 3000, Output: 60, CacheRead: 900, CacheWrite: 210, Reasoning: 15},
		CostUSD: 1.25, Rounds: 6, Counted: 3, Priced: 4,
	}
	if got := actor.Plus(critic); got != both {
		t.Errorf("together %+v, want %+v", got, both)
	}
}

// TestUsageOfMisses: the usage of a failed attempt counts, but the attempt is not a turn.
func TestUsageOfMisses(t *testing.T) {
	t.Parallel()
	paid := loop.Usage{Tokens: &loop.Tokens{Input: 10}, CostUSD: new(0.5), Rounds: new(1)}
	turn := loop.Turn{Try: loop.Try{Usage: paid}, Misses: []loop.Try{{Usage: paid}, {Ending: loop.EndAuth}}}
	var sum Tally
	if err := sum.Handle(loop.Stamp{}, loop.ActorFinished{Iteration: 1, Attempt: loop.Attempt{Turn: turn}}); err != nil {
		t.Fatal(err)
	}
	if want := (Usage{Tokens: loop.Tokens{Input: 20}, CostUSD: 1, Rounds: 2, Counted: 1, Priced: 1}); sum.Actor.Usage != want {
		t.Errorf("got %+v, want %+v", sum.Actor.Usage, want)
	}
}
