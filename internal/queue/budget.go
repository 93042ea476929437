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
func (b Budget) Any() bool { return b.Limit != Amount{} }

// Over says, for people, why no further turn begins, and which limit that is about, the first one of several; ""
// while the budget suffices.
func (b Budget) Over() (why string, reached loop.StopReason) {
	var all []string
	for _, p := range b.parts() {
		if p.spent >= p.limit-rounding {
			all, reached = append(all, p.said), cmp.Or(reached, p.reached)
		}
	}
	return strings.Join(all, "; "), reached
}

// Spend adds the cost of a turn.
func (b *Budget) Spend(cost Amount) {
	b.Spent.Dollars += cost.Dollars
	b.Spent.Tokens += cost.Tokens
	b.Spent.Seconds += cost.Seconds
}

// Set changes limits. When none is left, the amount spent is reset.
func (b *Budget) Set(changes ...func(limit *Amount)) {
	for _, change := range changes {
		change(&b.Limit)
	}
	if !b.Any() {
		*b = Budget{Repository: b.Repository}
	}
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

// A part is what is spent of one limit.
type part struct {
	limit, spent float64
	said         string // for people
	reached      loop.StopReason
}

// parts lists the limits.
func (b Budget) parts() []part {
	of, spent := b.Limit, b.Spent
	return slices.DeleteFunc([]part{
		{of.Dollars, spent.Dollars, fmt.Sprintf("$%.2f of $%.2f", spent.Dollars, of.Dollars), loop.StopMaxCost},
		{of.Tokens, spent.Tokens, tokens(spent.Tokens) + " of " + tokens(of.Tokens), loop.StopMaxTokens},
		{of.Seconds, spent.Seconds, span(spent.Seconds) + " of " + span(of.Seconds) + " of agents' time", loop.StopMaxDuration},
	}, func(p part) bool { return p.limit <= 0 })
}

// String says, for people, what is spent.
func (b Budget) String() string {
	var all []string
	for _, p := range b.parts() {
		all = append(all, p.said)
	}
	return strings.Join(all, ", ")
}
