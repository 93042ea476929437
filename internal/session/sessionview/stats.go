package sessionview

import (
	"cmp"
	"math"
	"slices"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/session"
)

// Stats sums up sessions. A rate is a share of the ended ones, from 0 to 1; null if there are none.
type Stats struct {
	Sessions    int      `json:"sessions"`
	Ended       int      `json:"ended"`
	SuccessRate *float64 `json:"success_rate"`

	// Of the ended sessions.
	Iterations Spread `json:"iterations"`
	Duration   Spread `json:"duration_secs"`
	Working    Spread `json:"working_secs"` // Duration without waits for services

	Waiting Waits `json:"waiting"`
	Cost    Costs `json:"cost"`

	Outcomes    []Group `json:"outcomes"`
	StopReasons []Group `json:"stop_reasons"`
	Projects    []Group `json:"projects"`
	Agents      []Group `json:"agents"` // actor and critic

	Periods    []Period       `json:"periods"`
	PeriodDays int            `json:"period_days"`
	Confidence []ConfidenceOf `json:"confidence"`
}

// Waits are the waits for services that were rate limited or overloaded.
type Waits struct {
	Seconds  float64 `json:"secs"`
	Sessions int     `json:"sessions"` // that have waited
}

// add adds a session, and returns how long it waited.
func (w *Waits) add(o session.Overview) time.Duration {
	if o.Tally == nil || o.Tally.Waits == 0 {
		return 0
	}
	waited := o.Tally.Waited()
	w.Seconds += waited.Seconds()
	w.Sessions++
	return waited
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

// A Period is a number of days, the same for all periods.
type Period struct {
	Begin     string `json:"begin"` // the first day, in the user's zone
	Sessions  int    `json:"sessions"`
	Successes int    `json:"successes"`

	CostUSD *float64 `json:"cost_usd"` // as far as it is known; null: unknown
}

// A ConfidenceOf counts the successes whose confidence was in a band, and how many of them were
// followed by another session with the same prompt in the same directory: perhaps the user was not
// satisfied.
type ConfidenceOf struct {
	Band      string `json:"band"`
	Successes int    `json:"successes"`
	Followed  int    `json:"followed"`
}

// NewStats sums up the picked sessions. all are the sessions that may have followed one of them.
// Days are those of the zone.
func NewStats(picked, all []session.Overview, zone *time.Location) Stats {
	var s Stats
	var iterations, took, worked []float64
	total := &Group{}
	outcomes, reasons, projects, agents := groups{}, groups{}, groups{}, groups{}
	for _, o := range picked {
		total.add(o)
		s.Cost.add(o)
		waited := s.Waiting.add(o)
		outcomes.add(string(o.Status), "", o)
		projects.add(known(o.Session.WorkingDir), "", o)
		agents.add(known(o.Session.Actor.Agent)+" + "+known(o.Session.Critic.Agent), "", o)
		if o.Outcome == nil {
			continue
		}
		if o.Outcome.Reason != loop.StopNone {
			reasons.add(string(o.Outcome.Reason), cause(*o.Outcome), o)
		}
		iterations = append(iterations, float64(o.Outcome.Iterations))
		took = append(took, o.Outcome.Duration.Seconds())
		worked = append(worked, max(0, o.Outcome.Duration-waited).Seconds())
	}
	s.Sessions, s.Ended, s.SuccessRate = total.Sessions, total.ended, total.rate()
	s.Iterations, s.Duration, s.Working = spread(iterations), spread(took), spread(worked)
	if total.successes > 0 {
		s.Cost.PerDone = s.Cost.USD / float64(total.successes)
	}
	s.Outcomes, s.StopReasons = outcomes.sorted(), reasons.sorted()
	s.Projects, s.Agents = projects.sorted(), agents.sorted()
	s.Periods, s.PeriodDays = periods(picked, zone)
	s.Confidence = confidence(picked, all)
	return s
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

func (g *Group) rate() *float64 {
	if g.ended == 0 {
		return nil
	}
	rate := float64(g.successes) / float64(g.ended)
	return &rate
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
	for _, n := range numbers {
		s.Mean += n / float64(len(numbers))
	}
	last := len(numbers) - 1
	s.Median = (numbers[last/2] + numbers[(last+1)/2]) / 2
	s.P90 = numbers[int(math.Ceil(0.9*float64(len(numbers))))-1] // nearest rank
	return s
}

// mostPeriods is how many signs a sparkline may have.
const mostPeriods = 60

// periods counts the sessions per day, or per several days if there would be too many periods.
func periods(picked []session.Overview, zone *time.Location) (list []Period, days int) {
	if len(picked) == 0 {
		return []Period{}, 1
	}
	first, last := math.MaxInt, math.MinInt
	for _, o := range picked {
		first, last = min(first, day(o.Started, zone)), max(last, day(o.Started, zone))
	}
	days = 1
	for _, longer := range []int{7, 28, 91, 364} {
		if (last-first)/days < mostPeriods {
			break
		}
		days = longer
	}
	for (last-first)/days >= mostPeriods {
		days *= 2 // decades of logs
	}
	list = make([]Period, (last-first)/days+1)
	for i := range list {
		list[i].Begin = time.Unix(int64(first+i*days)*secondsOfDay, 0).UTC().Format(time.DateOnly)
	}
	for _, o := range picked {
		p := &list[(day(o.Started, zone)-first)/days]
		p.Sessions++
		if o.Status == session.Status(loop.Success) {
			p.Successes++
		}
		p.CostUSD = plus(p.CostUSD, spentBy(o.Tally).CostUSD)
	}
	return list, days
}

const secondsOfDay = 24 * 60 * 60

// day numbers the calendar days of a zone.
func day(at time.Time, zone *time.Location) int {
	y, m, d := at.In(zone).Date()
	return int(time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Unix() / secondsOfDay)
}

type band struct {
	name  string
	least float64
}

// bands lists the bands of confidence, highest first. The top ones are narrow, because critics are
// seldom in doubt.
func bands() []band {
	return []band{{"0.95 to 1", 0.95}, {"0.90 to 0.95", 0.9}, {"0.80 to 0.90", 0.8}, {"0.50 to 0.80", 0.5}, {"below 0.50", 0}}
}

// work identifies sessions with the same prompt in the same directory.
type work struct{ prompt, dir string }

func workOf(o session.Overview) work { return work{o.Session.Prompt, o.Session.WorkingDir} }

// confidence compares the critics' confidence with what users did next.
func confidence(picked, all []session.Overview) []ConfidenceOf {
	latest := map[work]time.Time{}
	for _, o := range all {
		if w := workOf(o); o.Err == nil && o.Started.After(latest[w]) {
			latest[w] = o.Started
		}
	}
	rows := make([]ConfidenceOf, 0, len(bands())+1)
	for _, b := range bands() {
		rows = append(rows, ConfidenceOf{Band: b.name})
	}
	rows = append(rows, ConfidenceOf{Band: "none given"})
	for _, o := range picked {
		if o.Outcome == nil || o.Outcome.Result != loop.Success {
			continue
		}
		at := len(rows) - 1
		if c := o.Outcome.Confidence; c != nil {
			at = slices.IndexFunc(bands(), func(b band) bool { return *c >= b.least })
		}
		if at < 0 {
			continue // a log of another program, with a number out of range
		}
		rows[at].Successes++
		if latest[workOf(o)].After(o.Started) {
			rows[at].Followed++
		}
	}
	return rows
}
