package queue

import (
	"testing"
	"time"
)

// A rate limit ends at the time that the agent states; else the pause doubles with each try, from one minute to half
// an hour.
func TestLimitAgain(t *testing.T) {
	t.Parallel()
	var l Limit
	for i, want := range []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 16 * time.Minute, 30 * time.Minute, 30 * time.Minute} {
		if l = l.Again(noon, 0, ""); l.Until != noon.Add(want) || l.Seconds != want.Seconds() {
			t.Errorf("met %d times: until %s, want %s", i+1, l.Until, noon.Add(want))
		}
	}
	if l = l.Again(noon, time.Hour, "said"); l.Until != noon.Add(time.Hour+3*time.Second) || l.Tries != 0 {
		t.Errorf("with a stated end: %+v", l)
	}
	if l = l.Again(noon, -time.Hour, ""); l.Until != noon.Add(time.Minute) {
		t.Errorf("with a stated end in the past: %+v", l)
	}
}

// A task is held back if all agents of a role are at their limit, or if the budget is used up.
func TestHeld(t *testing.T) {
	t.Parallel()
	h := &Holds{Limits: map[string]Limit{"a": {Agent: "a", Seconds: 7200, Until: noon.Add(time.Hour)}, "past": {Agent: "past", Until: noon}}}
	for _, c := range []struct {
		cast [][]string
		want string
	}{
		{nil, ""},
		{[][]string{{"b"}, {"past"}}, ""},
		{[][]string{{"a"}, {"b"}}, "a: limit until 13:00"},
		{[][]string{{"b"}, {"a"}}, "a: limit until 13:00"},
		{[][]string{{"a", "b"}, {"b"}}, ""},
		{[][]string{{"b", "a"}, {"past", "a"}}, ""},
		{[][]string{{"a:large"}, {"b"}}, ""},
	} {
		r := record("t", func(r *Record) { r.Task.Cast = c.cast })
		if got := h.Held(r, noon); got != c.want {
			t.Errorf("%q: %q, want %q", c.cast, got, c.want)
		}
		if next := backlogOf(r).Next(noon, h, anything); (next == nil) != (c.want != "") {
			t.Errorf("%q: next is %v", c.cast, next)
		}
	}
	r := record("t", nil)
	h.Budgets = map[string]Budget{r.Task.Repository.Key(): {Limit: Amount{Tokens: 5}, Spent: Amount{Tokens: 6}}}
	if got := h.Held(r, noon); got != "over budget: 6 tokens of 5 tokens" {
		t.Errorf("over budget: %q", got)
	}
}
