package sessionview

import (
	"cmp"
	"math"
	"slices"

	"codeloops/internal/loop"
	"codeloops/internal/session"
)

// Stats sums up sessions. A rate is a share of the ended ones, from 0 to 1; null if there are none.
type Stats struct {
	Sessions    int      `json:"sessions"`
	Ended       int      `json:"ended"`
	SuccessRate *float64 `json:"success_rate"`
	FirstTry    *float64 `json:"first_try_rate"` // that were a success after one iteration
	// Approval is the share of all iterations that ended a session as a success; null if there are none.
	Approval *float64 `json:"approval_rate"`
	// Answered is the share of the other iterations whose next one did; null if there are none.
	Answered *float64 `json:"answered_rate"`

	// Of the ended sessions.
	Iterations Spread `json:"iterations"`
	Duration   Spread `json:"duration_secs"`

	Waiting Waits `json:"waiting"`
	Cost    Costs `json:"cost"`
	Waste   Waste `json:"waste"`

	Outcomes    []Group `json:"outcomes"`
	StopReasons []Group `json:"stop_reasons"`
	Projects    []Group `json:"projects"`
	Agents      []Group `json:"agents"` // actor and critic
}

// Waste is what the ended sessions without success have taken.
type Waste struct {
	Sessions int      `json:"sessions"`
	Seconds  float64  `json:"secs"`
	CostUSD  *float64 `json:"cost_usd"` // as far as it is known; null: unknown
}

// Waits are the waits for services that were rate limited or overloaded.
type Waits struct {
	Seconds  float64 `json:"secs"`
	Sessions int     `json:"sessions"` // that have waited
}

func (w *Waits) add(o session.Overview) {
	if o.Tally != nil && o.Tally.Waits > 0 {
		w.Seconds += o.Tally.Waited().Seconds()
		w.Sessions++
	}
}

// Costs are what sessions have cost, as far as their agents report it.
type Costs struct {
	USD      float64 `json:"usd"`
	Sessions int     `json:"sessions"` // whose cost is known, at least in part
	Partly   int     `json:"partial"`  // those of them whose cost is known only in part
	PerDone  float64 `json:"usd_per_success"`
	Tokens   int64   `json:"tokens"`
}

func (c *Costs) add(o session.Overview) {
	spent := spentBy(o.Tally)
	if spent.CostUSD != nil {
		c.USD += *spent.CostUSD
		c.Sessions++
	}
	if spent.Partly {
		c.Partly++
	}
	if spent.Tokens != nil {
		c.Tokens += *spent.Tokens
	}
}

// A Spread describes the distribution of numbers; all zero if there are none.
type Spread struct {
	Mean   float64 `json:"mean"`
	Median float64 `json:"median"`
	P90    float64 `json:"p90"` // nine of ten numbers are not larger
}

// A Group is the sessions that have something in common.
type Group struct {
	Name        string   `json:"name"`
	Cause       string   `json:"cause,omitempty"` // of a stop reason: the strategy's parameter that was reached, or the role that gave no decision
	Sessions    int      `json:"sessions"`
	SuccessRate *float64 `json:"success_rate"`
	CostUSD     *float64 `json:"cost_usd"` // as far as it is known; null: unknown
	Tokens      int64    `json:"tokens"`

	ended, successes int
}

// NewStats sums up sessions.
func NewStats(picked []session.Overview) Stats {
	var s Stats
	var iterations, took []float64
	total, first, again := &Group{}, 0, 0
	outcomes, reasons, projects, agents := groups{}, groups{}, groups{}, groups{}
	project := Projects(picked)
	for _, o := range picked {
		total.add(o)
		s.Cost.add(o)
		s.Waiting.add(o)
		outcomes.add(string(o.Status), "", o)
		projects.add(known(project(o)), "", o)
		agents.add(known(o.Session.Actor.Agent)+" + "+known(o.Session.Critic.Agent), "", o)
		if o.Outcome == nil {
			continue
		}
		if o.Outcome.Reason != loop.StopNone {
			reasons.add(string(o.Outcome.Reason), cause(*o.Outcome), o)
		}
		if o.Outcome.Result == loop.Success && o.Outcome.Iterations == 1 {
			first++
		}
		if o.Outcome.Result == loop.Success && o.Outcome.Iterations > 1 {
			again++
		}
		if o.Outcome.Result != loop.Success {
			s.Waste.Sessions++
			s.Waste.Seconds += o.Outcome.Duration.Seconds()
			s.Waste.CostUSD = plus(s.Waste.CostUSD, spentBy(o.Tally).CostUSD)
		}
		iterations = append(iterations, float64(o.Outcome.Iterations))
		took = append(took, o.Outcome.Duration.Seconds())
	}
	s.Sessions, s.Ended, s.SuccessRate, s.FirstTry = total.Sessions, total.ended, total.rate(), rateOf(first, total.ended)
	played := int(sum(iterations))
	s.Approval, s.Answered = rateOf(total.successes, played), rateOf(again, played-total.successes)
	s.Iterations, s.Duration = spread(iterations), spread(took)
	if total.successes > 0 {
		s.Cost.PerDone = s.Cost.USD / float64(total.successes)
	}
	s.Outcomes, s.StopReasons = outcomes.sorted(), reasons.sorted()
	s.Projects, s.Agents = projects.sorted(), agents.sorted()
	return s
}

// Projects returns the directory that each of some sessions counts to: the one that it worked in. A task of the queue worked in a
// work tree that goes with it, so it counts to where others of the same repository worked, as far as there are any.
func Projects(all []session.Overview) func(session.Overview) string {
	dirs := map[string]string{} // by the repository of checkpoints, which all work trees of a repository share
	for _, o := range all {
		was, now := dirs[o.Session.Checkpoints], o.Session.WorkingDir
		if o.Session.Task == "" && o.Session.Checkpoints != "" && (was == "" || len(now) < len(was)) {
			dirs[o.Session.Checkpoints] = now
		}
	}
	return func(o session.Overview) string {
		if o.Session.Task != "" {
			return cmp.Or(dirs[o.Session.Checkpoints], o.Session.WorkingDir)
		}
		return o.Session.WorkingDir
	}
}

// known replaces a name that the log does not tell.
func known(name string) string { return cmp.Or(name, "unknown") }

func (g *Group) add(o session.Overview) {
	g.Sessions++
	if o.Outcome != nil {
		g.ended++
	}
	if o.Status == session.Status(loop.Success) {
		g.successes++
	}
	spent := spentBy(o.Tally)
	g.CostUSD = plus(g.CostUSD, spent.CostUSD)
	if spent.Tokens != nil {
		g.Tokens += *spent.Tokens
	}
}

// plus adds two numbers; nil is unknown and adds nothing.
func plus[N int64 | float64](a, b *N) *N {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	return new(*a + *b)
}

func (g *Group) rate() *float64 { return rateOf(g.successes, g.ended) }

// rateOf returns a part of a number, from 0 to 1; nil of none.
func rateOf(part, of int) *float64 {
	if of <= 0 {
		return nil
	}
	return new(float64(part) / float64(of))
}

func sum(numbers []float64) (total float64) {
	for _, n := range numbers {
		total += n
	}
	return total
}

type groups map[string]*Group

func (g groups) add(name, cause string, o session.Overview) {
	key := name + " " + cause
	if g[key] == nil {
		g[key] = &Group{Name: name, Cause: cause}
	}
	g[key].add(o)
}

// cause returns what sessions with the same stop reason may share. Most causes are unique to a session.
func cause(o loop.Outcome) string {
	if o.Bounded() || o.Reason == loop.StopNoDecision {
		return o.Cause
	}
	return ""
}

func (g groups) sorted() []Group {
	list := make([]Group, 0, len(g))
	for _, one := range g {
		one.SuccessRate = one.rate()
		list = append(list, *one)
	}
	slices.SortFunc(list, func(a, b Group) int {
		return cmp.Or(cmp.Compare(b.Sessions, a.Sessions), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Cause, b.Cause))
	})
	return list
}

func spread(numbers []float64) (s Spread) {
	if len(numbers) == 0 {
		return s
	}
	slices.Sort(numbers)
	s.Mean = sum(numbers) / float64(len(numbers))
	last := len(numbers) - 1
	s.Median = (numbers[last/2] + numbers[(last+1)/2]) / 2
	s.P90 = numbers[int(math.Ceil(0.9*float64(len(numbers))))-1] // nearest rank
	return s
}
