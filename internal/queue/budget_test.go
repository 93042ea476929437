package queue

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"codeloops/internal/loop"
)

// Whatever workers do, and whenever they die: a turn starts only if spending and reservations are within the limit;
// the limit is exceeded only by what turns cost more than was reserved for them; and in the end nothing is
// reserved.
func TestBudgetHolds(t *testing.T) {
	t.Parallel()
	for seed := range uint64(500) {
		g := newGame(t, rand.New(rand.NewPCG(seed, 1)))
		for range 400 {
			g.step()
			g.held()
		}
		g.finish()
		if len(g.budget.Reserved) > 0 {
			t.Fatalf("seed %d: %+v is still reserved", seed, g.budget.Reserved)
		}
	}
}

// A game simulates a budget, with tasks whose turns have random costs.
type game struct {
	*testing.T
	random *rand.Rand
	budget Budget
	tasks  map[string]*Record
	names  []string
	under  map[string]Turn // turns in progress, by ID
	beyond Amount          // how much more turns have cost than was reserved
	turns  int
}

func newGame(t *testing.T, random *rand.Rand) *game {
	t.Helper()
	g := &game{T: t, random: random, tasks: map[string]*Record{}, under: map[string]Turn{}}
	g.budget.Limit = Amount{Dollars: 5 + 20*random.Float64(), Tokens: float64(random.IntN(3)) * 500, Seconds: float64(random.IntN(2)) * 90}
	for i := range 6 {
		name := fmt.Sprintf("t%d", i)
		g.names = append(g.names, name)
		g.tasks[name] = &Record{Task: Task{ID: name}, State: Running, Attempt: 1}
	}
	return g
}

// step does something random.
func (g *game) step() {
	task := g.tasks[g.names[g.random.IntN(len(g.names))]]
	switch g.random.IntN(8) {
	case 0: // the worker dies, and another one takes over the task
		for id, turn := range g.under {
			if turn.Task == task.Task.ID {
				delete(g.under, id)
			}
		}
		task.Attempt++
	case 1: // the task is cancelled, or starts again
		if task.State == Running {
			task.State = Cancelled
		} else {
			task.State, task.Attempt = Running, task.Attempt+1
		}
	case 2: // the limit is raised
		if g.budget.Over != "" {
			more := g.budget.Raise()
			dollars := max(g.budget.Limit.Dollars, more.Dollars)
			g.budget.Set(BudgetChange{Dollars: &dollars})
		}
	case 3, 4:
		g.end()
	default:
		if task.State == Running {
			g.begin(task)
		}
	}
}

// begin starts a turn if the budget allows it.
func (g *game) begin(task *Record) {
	g.turns++
	turn := Turn{ID: strconv.Itoa(g.turns), Task: task.Task.ID, Attempt: task.Attempt, Who: []string{"actor a", "critic a", "actor b"}[g.random.IntN(3)]}
	if g.random.IntN(3) == 0 {
		turn.Bound.Dollars = 3 * g.random.Float64()
	}
	switch g.budget.Reserve(turn) {
	case Begins:
		g.under[turn.ID] = turn
		sum := g.budget.Spent.plus(g.budget.Held())
		limit, used := g.budget.Limit.parts(), sum.parts()
		for i := range limit {
			if *limit[i] > 0 && *used[i] > *limit[i]+1e-6 {
				g.Fatalf("turn %s began with %+v of %+v", turn.ID, sum, g.budget.Limit)
			}
		}
	case Waits:
		g.budget.Release(func(r Reservation) bool { return !r.Current(g.tasks[r.Task]) })
		if len(g.budget.Reserved) == 0 {
			if how := g.budget.Reserve(turn); how == Waits {
				g.Fatalf("turn %s waits, but nothing is reserved", turn.ID)
			} else if how == Begins {
				g.under[turn.ID] = turn
			}
		}
	case Over:
		if g.budget.Over == "" || len(g.budget.Reserved) > 0 {
			g.Fatalf("over budget without a reason, or while something is reserved: %+v", g.budget)
		}
	}
}

// end ends a turn in progress, even if its attempt no longer counts.
func (g *game) end() {
	for id, turn := range g.under {
		cost := Amount{Dollars: 2 * g.random.Float64(), Tokens: float64(g.random.IntN(200)), Seconds: 10 * g.random.Float64()}
		var reserved Amount
		for _, r := range g.budget.Reserved {
			if r.ID == id {
				reserved = r.Amount
			}
		}
		to, from, of := g.beyond.parts(), cost.parts(), reserved.parts()
		for i := range to {
			*to[i] += max(0, *from[i]-*of[i])
		}
		g.budget.Settle(turn, cost, g.random.IntN(4) > 0)
		delete(g.under, id)
		return
	}
}

// held fails if spending and reservations exceed the limit by more than turns have cost beyond their reservations.
func (g *game) held() {
	sum := g.budget.Spent.plus(g.budget.Held())
	limit, used, beyond := g.budget.Limit.parts(), sum.parts(), g.beyond.parts()
	for i := range limit {
		if *limit[i] > 0 && *used[i] > *limit[i]+*beyond[i]+1e-6 {
			g.Fatalf("%+v of %+v, while turns exceeded their reservations by %+v", sum, g.budget.Limit, g.beyond)
		}
	}
}

// finish ends all turns in progress.
func (g *game) finish() {
	for len(g.under) > 0 {
		g.end()
	}
	g.budget.Release(func(r Reservation) bool { return !r.Current(g.tasks[r.Task]) })
}

// The limit is never exceeded by a turn that costs no more than an earlier one of its kind, and by the first turn of
// a kind at most by its own cost.
func TestBudgetIsExceededByOneTurnAtMost(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 2))
		b := Budget{Limit: Amount{Dollars: 1 + 9*random.Float64()}}
		const most = 2.0 // the cost of the first turn, in dollars
		under := map[string]Turn{}
		for n := range 200 {
			turn := Turn{ID: strconv.Itoa(n), Task: strconv.Itoa(n % 5), Attempt: 1, Who: "actor a"}
			if b.Reserve(turn) == Begins {
				under[turn.ID] = turn
			}
			for id, turn := range under {
				if random.IntN(3) == 0 {
					cost := most
					if b.Most != nil {
						cost *= random.Float64()
					}
					b.Settle(turn, Amount{Dollars: cost}, true)
					delete(under, id)
				}
			}
			if now := b.Spent.plus(b.Held()).Dollars; now > b.Limit.Dollars+most {
				t.Fatalf("seed %d: $%.2f spent or reserved of $%.2f", seed, now, b.Limit.Dollars)
			}
			if len(b.Most) > 0 && b.Spent.Dollars > max(most, b.Limit.Dollars)+1e-6 {
				t.Fatalf("seed %d: $%.2f spent of $%.2f", seed, b.Spent.Dollars, b.Limit.Dollars)
			}
		}
	}
}

func TestBudgetSays(t *testing.T) {
	t.Parallel()
	b := Budget{Limit: Amount{Dollars: 20, Tokens: 2e6, Seconds: 7200}, Spent: Amount{Dollars: 12.3, Tokens: 812_000, Seconds: 3600}}
	b.Reserved = []Reservation{{ID: "1", Task: "a", Attempt: 1, Amount: Amount{Dollars: 1.2}}}
	if got, want := b.String(), "$12.30 of $20.00 ($1.20 reserved), 812 k tokens of 2 M tokens, 1h of 2h of agents' time"; got != want {
		t.Errorf("got %s", got)
	}
	if got, want := (&Budget{Limit: Amount{Seconds: 1.5}}).String(), "0s of 1.5s of agents' time"; got != want {
		t.Errorf("got %s", got)
	}
	b.Reserved, b.Most = nil, map[string]Amount{"actor a": {Dollars: 8}}
	if how := b.Reserve(Turn{ID: "2", Task: "a", Who: "actor a"}); how != Over || b.Reached != loop.StopMaxCost || !strings.Contains(b.Over, "$12.30 of $20.00, and a turn of the actor a may take $8.00") {
		t.Errorf("%d: %s", how, b.Over)
	}
	if got := b.Raise(); got != (Amount{Dollars: 33}) {
		t.Errorf("Raise suggests %+v", got)
	}
}
