package queue

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/wording"
)

// An Amount is a cost. In a limit, 0 means no limit.
type Amount struct {
	Dollars float64 `json:"dollars,omitempty"`
	Tokens  float64 `json:"tokens,omitempty"`
	Seconds float64 `json:"seconds,omitempty"` // of agents at work, over all turns
}

// parts returns pointers to the fields.
func (a *Amount) parts() [3]*float64 { return [...]*float64{&a.Dollars, &a.Tokens, &a.Seconds} }

// rounding is the tolerance for sums of floats.
const rounding = 1e-9

// A Budget limits what all tasks of a repository may cost together. It is stored with the backlog and shared by
// any number of workers on any number of machines.
//
// It is looked at before a task begins and before each turn, and what a turn has cost is added when that ends. So each
// turn that is under way when the limit is reached may exceed it.
type Budget struct {
	Repository Repository `json:"repository"`
	Limit      Amount     `json:"limit,omitzero"`
	Spent      Amount     `json:"spent,omitzero"` // since a limit was set
}

// Any reports whether there is a limit.
func (b *Budget) Any() bool { return b.Limit != Amount{} }

// Over says, for people, why no further turn begins, and which limit that is about, the first one of several; ""
// while the budget suffices.
func (b *Budget) Over() (why string, reached loop.StopReason) {
	var all []string
	limit, spent := b.Limit.parts(), b.Spent.parts()
	for i, said := range b.parts() {
		if said != "" && *spent[i] >= *limit[i]-rounding {
			all = append(all, said)
			reached = cmp.Or(reached, [...]loop.StopReason{loop.StopMaxCost, loop.StopMaxTokens, loop.StopMaxDuration}[i])
		}
	}
	return strings.Join(all, "; "), reached
}

// Spend adds the cost of a turn.
func (b *Budget) Spend(cost Amount) {
	to, from := b.Spent.parts(), cost.parts()
	for i := range to {
		*to[i] += *from[i]
	}
}

// Set changes the limits that are given. When no limit is left, the amount spent is reset.
func (b *Budget) Set(said BudgetChange) {
	to, what := b.Limit.parts(), [...]*float64{said.Dollars, said.Tokens, said.Seconds}
	for i, value := range what {
		if value != nil {
			*to[i] = *value
		}
	}
	if !b.Any() {
		*b = Budget{Repository: b.Repository}
	}
}

// A BudgetChange sets limits; nil leaves one as it is, and 0 removes it.
type BudgetChange struct{ Dollars, Tokens, Seconds *float64 }

// Any reports whether it changes anything.
func (c BudgetChange) Any() bool { return c != BudgetChange{} }

// figures formats the parts of an amount for people.
func (a Amount) figures() [3]string {
	return [...]string{fmt.Sprintf("$%.2f", a.Dollars), tokens(a.Tokens), span(a.Seconds)}
}

func tokens(n float64) string {
	switch {
	case n >= 1e6:
		return strings.TrimSuffix(fmt.Sprintf("%.2f", n/1e6), ".00") + " M tokens"
	case n >= 1e4:
		return fmt.Sprintf("%.0f k tokens", n/1e3)
	}
	return fmt.Sprintf("%.0f tokens", n)
}

func span(seconds float64) string {
	unit := time.Second
	if seconds < 60 {
		unit = time.Second / 10
	}
	return wording.Duration(time.Duration(seconds * float64(time.Second)).Round(unit))
}

// parts says what is spent of each limit; "" where there is none.
func (b *Budget) parts() (said [3]string) {
	limit, spent, of := b.Limit.parts(), b.Spent.figures(), b.Limit.figures()
	for i := range limit {
		if *limit[i] > 0 {
			said[i] = spent[i] + " of " + of[i] + [...]string{"", "", " of agents' time"}[i]
		}
	}
	return said
}

// String says, for people, what is spent.
func (b *Budget) String() string {
	parts := b.parts()
	return strings.Join(slices.DeleteFunc(parts[:], func(part string) bool { return part == "" }), ", ")
}
