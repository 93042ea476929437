package queue

import (
	"testing"

	"codeloops/internal/loop"
)

// TestBudget: turns begin until the sum of what they have cost reaches a limit.
func TestBudget(t *testing.T) {
	t.Parallel()
	var b Budget
	b.Set(func(limit *Amount) { limit.Dollars, limit.Seconds = 1, 90 })
	for range 10 {
		if why, _ := b.Over(); why != "" {
			t.Fatal(why)
		}
		b.Spend(Amount{Dollars: 0.1, Tokens: 5, Seconds: 1})
	}
	if why, reached := b.Over(); why != "$1.00 of $1.00" || reached != loop.StopMaxCost {
		t.Errorf("%q, %v", why, reached)
	}
	b.Set(func(limit *Amount) { limit.Dollars = 0 })
	if why, _ := b.Over(); why != "" || b.Spent.Tokens != 50 {
		t.Errorf("%q, %+v", why, b)
	}
	b.Set(func(limit *Amount) { limit.Seconds = 0 })
	if b.Any() || b.Spent != (Amount{}) {
		t.Errorf("%+v", b)
	}
}

func TestBudgetSays(t *testing.T) {
	t.Parallel()
	b := Budget{Limit: Amount{Dollars: 20, Tokens: 2e6, Seconds: 7200}, Spent: Amount{Dollars: 12.3, Tokens: 812_000, Seconds: 3600}}
	if got, want := b.String(), "$12.30 of $20.00, 812 k tokens of 2 M tokens, 1h of 2h of agents' time"; got != want {
		t.Errorf("got %s", got)
	}
	if got, want := (&Budget{Limit: Amount{Seconds: 1.5}}).String(), "0s of 1.5s of agents' time"; got != want {
		t.Errorf("got %s", got)
	}
}
