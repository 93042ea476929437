package queue

import (
	"testing"
	"time"
)

// A task is held back if all agents of a role are at their limit, or if the budget is used up.
func TestHeld(t *testing.T) {
	t.Parallel()
	limited := func(id, agent, home string, until time.Time) *Record {
		return record(id, func(r *Record) { r.Limited, r.Worker.Home, r.NotBefore = agent, home, until })
	}
	b := backlogOf(limited("x", "a", "here", noon.Add(time.Hour)), limited("y", "past", "here", noon), limited("z", "b", "elsewhere", noon.Add(time.Hour)))
	h := b.Holds(nil, "here", noon)
	for _, c := range []struct {
		cast [][]string
		want string
	}{
		{nil, ""},
		{[][]string{{"b"}, {"past"}}, ""},
		{[][]string{{"a"}, {"b"}}, LimitOf("a", noon.Add(time.Hour))},
		{[][]string{{"b"}, {"a"}}, LimitOf("a", noon.Add(time.Hour))},
		{[][]string{{"a", "b"}, {"b"}}, ""},
		{[][]string{{"b", "a"}, {"past", "a"}}, ""},
		{[][]string{{"a:large"}, {"b"}}, ""},
	} {
		r := record("t", func(r *Record) { r.Task.Cast = c.cast })
		if got := h.Held(r); got != c.want {
			t.Errorf("%q: %q, want %q", c.cast, got, c.want)
		}
		if next := backlogOf(r).Next(noon, h, anything); (next == nil) != (c.want != "") {
			t.Errorf("%q: next is %v", c.cast, next)
		}
	}
	r := record("t", nil)
	h.Budgets = Budgets{r.Task.Repository.Key(): {Limit: Amount{Tokens: 5}, Spent: Amount{Tokens: 6}}}
	if got := h.Held(r); got != "over budget: 6 tokens of 5 tokens" {
		t.Errorf("over budget: %q", got)
	}
}
