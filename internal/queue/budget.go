package queue

import (
	"cmp"
	"fmt"
	"math"
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

// plus adds two amounts.
func (a Amount) plus(other Amount) Amount {
	to, from := a.parts(), other.parts()
	for i := range to {
		*to[i] += *from[i]
	}
	return a
}

// A Budget limits what all tasks of a repository may cost together. It is stored with the backlog and shared by
// any number of workers on any number of machines.
//
// What a turn may cost is reserved before it starts, and booked as spent when it ends. A turn starts only if spent
// and reserved amounts stay within the limit. If it costs more than was reserved, the limit is exceeded by the
// difference.
type Budget struct {
	Repository Repository    `json:"repository"`
	Limit      Amount        `json:"limit,omitzero"`
	Spent      Amount        `json:"spent,omitzero"` // since a limit was set
	Reserved   []Reservation `json:"reserved,omitempty"`
	// Most is the highest cost of a turn so far, by agent and role.
	Most map[string]Amount `json:"most,omitempty"`
	// Over says why no further task begins, a sentence for people; "" while the budget suffices.
	Over string `json:"over,omitempty"`
	// Reached is the limit that Over is about; the first one of several.
	Reached loop.StopReason `json:"reached,omitempty"`
}

// A Reservation is for a turn in progress.
type Reservation struct {
	ID      string `json:"id"` // unique for each turn
	Task    string `json:"task"`
	Attempt int    `json:"attempt"` // at the task; a later attempt ends the turn
	Amount  Amount `json:"amount,omitzero"`
	// Beat grows while the turn is being played. One that has been silent for the length of a lease counts as
	// over: otherwise all slots could wait for a turn that nobody is left to play.
	Beat int `json:"beat,omitempty"`
}

// A Turn is one that is about to start.
type Turn struct {
	ID      string
	Task    string
	Attempt int
	Who     string // agent with model, and role
	Bound   Amount // the most that it may cost, as far as known
}

// An Admission says whether a turn may start.
type Admission int

// The admissions.
const (
	Begins Admission = iota // its cost is reserved
	Waits                   // until other turns end
	Over                    // there is no turn to wait for
)

// rounding is the tolerance for sums of floats.
const rounding = 1e-9

// Any reports whether there is a limit.
func (b *Budget) Any() bool { return b.Limit != Amount{} }

// Held is the sum of all reservations.
func (b *Budget) Held() (sum Amount) {
	for _, r := range b.Reserved {
		sum = sum.plus(r.Amount)
	}
	return sum
}

// Reserve reserves the cost of a turn: the most that a turn by the same agent in the same role has cost. The first
// turn reserves its own bound, or else everything that is left. Turns of earlier attempts at the task are
// released.
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

// Settle ends a turn: its reservation is released and its cost is spent. Only a completed turn counts for later
// reservations.
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

// Release removes the matching reservations.
func (b *Budget) Release(is func(Reservation) bool) { b.Reserved = slices.DeleteFunc(b.Reserved, is) }

// Reserves reports whether a turn has a reservation.
func (b *Budget) Reserves(id string) bool {
	return slices.ContainsFunc(b.Reserved, func(r Reservation) bool { return r.ID == id })
}

// Current reports whether the turn may still be in progress: its attempt is the current one.
func (r Reservation) Current(of *Record) bool {
	return of != nil && of.State == Running && of.Attempt == r.Attempt
}

// Set changes the limits that are given. When no limit is left, the amount spent is reset.
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

// String says, for people, what is spent and what is reserved.
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

// Raise suggests a limit that would let the tasks go on: what is spent plus the old limit, for each limit that is
// too low.
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
