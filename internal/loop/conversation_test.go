package loop_test

import (
	"reflect"
	"testing"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/strategy"
)

func used(input int64, cost float64) loop.Usage {
	return loop.Usage{Tokens: &loop.Tokens{Input: input, Output: 1}, CostUSD: &cost}
}

func TestConversationAfter(t *testing.T) {
	t.Parallel()
	claude, codex := loop.AgentRef{Agent: "claude"}, loop.AgentRef{Agent: "codex"}
	before := loop.Conversation{ID: "a", Agent: claude, Spent: used(10, 0.5)}
	sum := loop.Usage{Tokens: &loop.Tokens{Input: 15, Output: 2}, CostUSD: new(0.75)}
	for name, test := range map[string]struct {
		turn loop.Turn
		want loop.Conversation
	}{
		"carried on":      {loop.Turn{Try: loop.Try{Agent: claude, Resumed: true, Usage: used(5, 0.25)}, Conversation: "a"}, loop.Conversation{ID: "a", Agent: claude, Spent: sum}},
		"under a new id":  {loop.Turn{Try: loop.Try{Agent: claude, Resumed: true, Usage: used(5, 0.25)}, Conversation: "b"}, loop.Conversation{ID: "b", Agent: claude, Spent: sum}},
		"a new one":       {loop.Turn{Try: loop.Try{Agent: claude, Usage: used(5, 0.25)}, Conversation: "b"}, loop.Conversation{ID: "b", Agent: claude, Spent: used(5, 0.25)}},
		"another agent's": {loop.Turn{Try: loop.Try{Agent: codex, Usage: used(5, 0.25)}, Conversation: "a"}, loop.Conversation{ID: "a", Agent: codex, Spent: used(5, 0.25)}},
		"untold":          {loop.Turn{Try: loop.Try{Agent: codex, Ending: loop.EndCompleted}}, loop.Conversation{}},
		"blocked":         {loop.Turn{Try: loop.Try{Agent: codex, Ending: loop.EndAuth}}, before},
		"interrupted":     {loop.Turn{Try: loop.Try{Agent: claude, Resumed: true, Ending: loop.EndInterrupted}}, before},
		"lost":            {loop.Turn{Try: loop.Try{Agent: claude, Resumed: true, Ending: loop.EndFailed}}, loop.Conversation{}},
		"too long":        {loop.Turn{Try: loop.Try{Agent: claude, Resumed: true, Ending: loop.EndContextTooLong}, Conversation: "a"}, loop.Conversation{}},
		"nothing is told": {loop.Turn{Try: loop.Try{Agent: claude, Resumed: true}, Conversation: "a"}, before},
	} {
		if got := before.After(test.turn); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: got %+v, want %+v", name, got, test.want)
		}
	}
}

func TestUsageLess(t *testing.T) {
	t.Parallel()
	told := loop.Usage{Tokens: &loop.Tokens{Input: 20, Output: 1, CacheRead: 3}, CostUSD: new(0.75), Rounds: new(2)}
	want := loop.Usage{Tokens: &loop.Tokens{Input: 10, CacheRead: 3}, CostUSD: new(0.25), Rounds: new(2)}
	if got := told.Less(used(10, 0.5)); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := told.Less(loop.Usage{}); !reflect.DeepEqual(got, told) {
		t.Errorf("nothing is known about earlier turns: %+v", got)
	}
	if got := (loop.Usage{}).Less(told); got != (loop.Usage{}) {
		t.Errorf("nothing is reported: %+v", got)
	}
	if got := used(1, 0.1).Less(told); got.Tokens.Input != 0 || *got.CostUSD != 0 {
		t.Errorf("below zero: %+v", got.Tokens)
	}
}

// TestConversationIsHandedOn: the actor is told the conversation so far, in the same run and in a
// resumed one.
func TestConversationIsHandedOn(t *testing.T) {
	t.Parallel()
	claude := loop.AgentRef{Agent: "claude"}
	p := &play{
		attempts: []loop.Attempt{{Turn: loop.Turn{Try: loop.Try{Agent: claude, Usage: used(1, 1)}, Conversation: "a"}}},
		reviews:  []loop.Review{says(loop.Continue, "more"), says(loop.Done, "")},
	}
	p.run(t)
	want := loop.Conversation{ID: "a", Agent: claude, Spent: used(1, 1)}
	if p.briefs[0].Conversation.ID != "" || !reflect.DeepEqual(p.briefs[1].Conversation, want) {
		t.Errorf("got %+v, then %+v", p.briefs[0].Conversation, p.briefs[1].Conversation)
	}
	// An attempt that is judged again counts as one turn of the conversation.
	again := p.rounds()[0]
	again.Iteration, again.Attempt.Rejudged, again.Attempt.Usage = 2, true, used(0, 0)
	next := &play{attempts: []loop.Attempt{{}}, reviews: []loop.Review{says(loop.Done, "")}}
	l := loop.Loop{Workplace: loop.Workplace{Actor: next, Tree: next, Critic: next, Gate: limit{}}, Strategy: strategy.ActorCritic{}, Sink: next, Clock: time.Now}
	past := &loop.Journal{}
	for _, e := range []loop.Event{
		loop.Started{},
		loop.IterationStarted{Iteration: 1},
		loop.ActorFinished{Iteration: 1, Attempt: p.attempts[0]},
		loop.IterationFinished{Round: p.rounds()[0]},
		loop.IterationStarted{Iteration: 2},
		loop.ActorFinished{Iteration: 2, Attempt: again.Attempt},
		loop.IterationFinished{Round: again},
	} {
		past.Add(loop.Stamp{}, e)
	}
	if _, err := l.Resume(t.Context(), loop.Session{}, past); err != nil || !reflect.DeepEqual(next.briefs[0].Conversation, want) {
		t.Errorf("got %+v, %v", next.briefs, err)
	}
}
