package queue

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"codeloops/internal/loop"
)

// An Amount is what turns have cost, or may cost. In a limit 0 is none.
type Amount struct {
	Dollars float64 `json:"dollars,omitempty"`
	Tokens  float64 `json:"tokens,omitempty"`
	Seconds float64 `json:"seconds,omitempty"` // that agents are at work, all turns added up
}

// parts are what an amount is made of.
func (a *Amount) parts() [3]*float64 { return [...]*float64{&a.Dollars, &a.Tokens, &a.Seconds} }

// plus is the sum of two amounts.
func (a Amount) plus(other Amount) Amount {
	to, from := a.parts(), other.parts()
	for i := range to {
		*to[i] += *from[i]
	}
	return a
}

// A Budget is what all tasks of a repository together may cost. It is kept with the backlog and
// changed by revision alone: any number of workers, on any number of machines, share it.
//
// What a turn may cost is reserved before it starts, and spent when it is over: what is spent and
// what is reserved are never more than the limit when a turn starts. A turn that costs more than was
// reserved for it goes beyond the limit by that.
type Budget struct {
	Repository Repository    `json:"repository"`
	Limit      Amount        `json:"limit,omitzero"`
	Spent      Amount        `json:"spent,omitzero"` // since there is a limit
	Reserved   []Reservation `json:"reserved,omitempty"`
	// Most is the most that a turn has cost, by who played it, and as what.
	Most map[string]Amount `json:"most,omitempty"`
	// Over says why no further task is begun, a sentence for people; "" while there is no reason.
	Over string `json:"over,omitempty"`
	// Reached is the limit that Over is about, the first one of several.
	Reached loop.StopReason `json:"reached,omitempty"`
}

// A Reservation is for a turn that is under way.
type Reservation struct {
	ID      string `json:"id"` // of the turn; no other one has it
	Task    string `json:"task"`
	Attempt int    `json:"attempt"` // at the task: a later one has ended the turn
	Amount  Amount `json:"amount,omitzero"`
	// Beat grows while somebody plays the turn. Whoever waits for one that has been silent for as long
	// as a lease lasts counts it as over: all slots may be waiting, and none be left for its task.
	Beat int `json:"beat,omitempty"`
}

// A Turn is one that is to start.
type Turn struct {
	ID      string
	Task    string
	Attempt int
	Who     string // agent, with its model, and role
	Bound   Amount // the most that it may cost, as far as that is known by other means
}

// An Admission is what becomes of a turn.
type Admission int

// The admissions.
const (
	Begins Admission = iota // something is reserved for it
	Waits                   // until turns that are under way are over
	Over                    // nothing is under way that could be waited for
)

// rounding is what sums of fractions may be wrong by.
const rounding = 1e-9

// Any reports whether there is a limit at all.
func (b *Budget) Any() bool { return b.Limit != Amount{} }

// Held is all that is reserved.
func (b *Budget) Held() (sum Amount) {
	for _, r := range b.Reserved {
		sum = sum.plus(r.Amount)
	}
	return sum
}

// Reserve reserves what a turn may cost: the most that one by the same agent in the same role has
// cost. Of the first one nobody knows: that is as much as it is bound by, or else all there is.
// Turns of earlier attempts at the task are over.
func (b *Budget) Reserve(t Turn) Admission {
	if b.Reserves(t.ID) {
		return Begins
	}
	b.Release(func(r Reservation) bool { return r.Task == t.Task && r.Attempt < t.Attempt })
	most, seen := b.Most[t.Who]
	held := b.Held()
	alone := len(b.Reserved) == 0
	reserved := Reservation{ID: t.ID, Task: t.Task, Attempt: t.Attempt}
	limit, taken, of := b.Limit.parts(), b.Spent.plus(held), reserved.Amount.parts()
	used, mosts, bounds := taken.parts(), most.parts(), t.Bound.parts()
	var short []string
	var reached loop.StopReason
	for i := range limit {
		if *limit[i] == 0 {
			continue
		}
		left := *limit[i] - *used[i]
		switch {
		case left < rounding, seen && *mosts[i] > left+rounding:
			short = append(short, shortOf(i, b, t.Who, *mosts[i]))
			reached = cmp.Or(reached, [...]loop.StopReason{loop.StopMaxCost, loop.StopMaxTokens, loop.StopMaxDuration}[i])
		case seen:
			*of[i] = *mosts[i]
		case *bounds[i] > 0 && *bounds[i] <= left:
			*of[i] = *bounds[i]
		case alone:
			*of[i] = left
		default:
			return Waits
		}
	}
	switch {
	case short == nil:
		b.Reserved = append(b.Reserved, reserved)
		return Begins
	case alone:
		b.Over, b.Reached = strings.Join(short, "; "), reached
		return Over
	}
	return Waits
}

// shortOf says which part of the limit does not suffice.
func shortOf(part int, b *Budget, who string, most float64) string {
	var next Amount
	*next.parts()[part] = most
	said := b.parts()[part]
	if most > 0 {
		return fmt.Sprintf("%s, and a turn of the %s may take %s", said, who, next.figures()[part])
	}
	return said
}

// Settle ends a turn: what was reserved for it is free, and what it has cost is spent. A turn that was
// played whole says what others may cost.
func (b *Budget) Settle(t Turn, cost Amount, whole bool) {
	b.Release(func(r Reservation) bool { return r.ID == t.ID })
	b.Spent = b.Spent.plus(cost)
	if !whole {
		return
	}
	if b.Most == nil {
		b.Most = map[string]Amount{}
	}
	most := b.Most[t.Who]
	to, from := most.parts(), cost.parts()
	for i := range to {
		*to[i] = max(*to[i], *from[i])
	}
	b.Most[t.Who] = most
}

// Release ends the reservations of which that is true.
func (b *Budget) Release(is func(Reservation) bool) { b.Reserved = slices.DeleteFunc(b.Reserved, is) }

// Reserves reports whether something is reserved for a turn.
func (b *Budget) Reserves(id string) bool {
	return slices.ContainsFunc(b.Reserved, func(r Reservation) bool { return r.ID == id })
}

// Stands reports whether a turn may still be under way: its attempt at its task is the one that counts.
func (r Reservation) Stands(of *Record) bool {
	return of != nil && of.State == Running && of.Attempt == r.Attempt
}

// Set changes the limit, as far as something is said of it. Without any, what is spent is forgotten:
// it counts from the next one on.
func (b *Budget) Set(said BudgetChange) {
	to, what := b.Limit.parts(), [...]*float64{said.Dollars, said.Tokens, said.Seconds}
	for i, value := range what {
		if value != nil {
			*to[i] = *value
		}
	}
	if b.Over, b.Reached = "", loop.StopNone; !b.Any() {
		*b = Budget{Repository: b.Repository}
	}
}

// A BudgetChange is what is said of a budget; nil says nothing, and 0 takes that limit away.
type BudgetChange struct{ Dollars, Tokens, Seconds *float64 }

// Any reports whether anything is said.
func (c BudgetChange) Any() bool { return c != BudgetChange{} }

// figures are the parts of an amount, for people.
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
	return time.Duration(seconds * float64(time.Second)).Round(time.Second).String()
}

// parts say what is spent of each part of the limit; "" where there is no limit.
func (b *Budget) parts() (said [3]string) {
	limit, spent, of := b.Limit.parts(), b.Spent.figures(), b.Limit.figures()
	for i := range limit {
		if *limit[i] > 0 {
			said[i] = spent[i] + " of " + of[i] + [...]string{"", "", " of agents' time"}[i]
		}
	}
	return said
}

// String says, for people, what is spent of the budget, and what is reserved.
func (b *Budget) String() string {
	parts, held := b.parts(), b.Held()
	reserved := held.figures()
	of := held.parts()
	var all []string
	for i, part := range parts {
		if part == "" {
			continue
		}
		if *of[i] > 0 {
			part += " (" + reserved[i] + " reserved)"
		}
		all = append(all, part)
	}
	return strings.Join(all, ", ")
}

// Raise is the limit that would let the tasks go on, as far as it has to be another one: the same again,
// on what is spent.
func (b *Budget) Raise() (to Amount) {
	limit, spent, raised := b.Limit.parts(), b.Spent.parts(), to.parts()
	for i := range limit {
		if *limit[i] == 0 {
			continue
		}
		var most float64
		for _, m := range b.Most {
			most = max(most, *m.parts()[i])
		}
		if left := *limit[i] - *spent[i]; left < rounding || most > left {
			*raised[i] = math.Ceil(*limit[i] + *spent[i])
		}
	}
	return to
}
