package eval

import (
	"cmp"
	"fmt"
	"slices"
)

// A Report is what is known of some critics, on some cases.
type Report struct {
	Cases     int            `json:"cases"`
	Good      int            `json:"good"`    // where a DONE is right
	Bad       int            `json:"bad"`     // where it is not
	Unknown   int            `json:"unknown"` // they count nowhere else
	Contested int            `json:"contested"`
	Sources   map[string]int `json:"sources"` // how many cases each says something of
	Critics   []Critic       `json:"critics"`
	Rounds    []Round        `json:"rounds"`
	Cheapest  *Cheapest      `json:"cheapest"` // nil: nothing was caught, or no cost is known
	Differ    []Difference   `json:"differ"`
}

// Recorded is the name under which a report has the critics that the sessions had.
const Recorded = "the sessions' own"

// A Critic is how one critic has done.
type Critic struct {
	Name        string `json:"name"`
	Judged      int    `json:"judged"`
	None        int    `json:"none"`         // verdicts that could not be used
	Misses      Rate   `json:"misses"`       // of the bad cases: it said DONE
	FalseAlarms Rate   `json:"false_alarms"` // of the good cases: it did not
	Agreement   Rate   `json:"agreement"`    // of both: it was right

	CostUSD   *float64 `json:"cost_usd"` // of all its verdicts; nil: some are not known
	Seconds   float64  `json:"secs"`
	PerCase   *float64 `json:"cost_per_case_usd"`
	PerCaught *float64 `json:"cost_per_caught_usd"` // nil also if it caught nothing
	SecsEach  float64  `json:"secs_per_case"`
	SecsCatch *float64 `json:"secs_per_caught"`

	caught map[string]bool
}

// A Round is what the recorded critics' nth verdicts of a session found.
type Round struct {
	N        int  `json:"n"`
	Judged   int  `json:"judged"`
	Rejected int  `json:"rejected"`
	Real     Rate `json:"real"`    // of the rejected ones of which something is known: the fault was there
	Unknown  int  `json:"unknown"` // rejected ones of which nothing is known
}

// Cheapest is the cheapest critic that caught whatever the most watchful one did.
type Cheapest struct {
	Name    string  `json:"name"`
	Like    string  `json:"like"`
	Caught  int     `json:"caught"`
	PerCase float64 `json:"cost_per_case_usd"`
}

// A Difference is a case on which the critics do not agree.
type Difference struct {
	Case     string            `json:"case"`
	Task     string            `json:"task"`
	Truth    Truth             `json:"truth"`
	Why      []string          `json:"why,omitempty"`
	Verdicts map[string]string `json:"verdicts"`
	Diff     string            `json:"diff"` // the command that shows the work

	of   Case
	work string // see [Report.Attach]
}

// NewReport sums up what some critics say of some cases, and the critics that the sessions had.
func NewReport(b *Book, cases []Case, critics, sources []string) Report {
	r := Report{Cases: len(cases), Sources: map[string]int{}}
	truths := make([]Truth, len(cases))
	for i, c := range cases {
		var contested bool
		truths[i], contested = c.Truth(sources)
		r.count(c, truths[i], contested, sources)
	}
	r.Critics = append(r.Critics, of(Recorded, cases, truths, func(c Case) (Verdict, bool) { return c.Recorded, true }))
	for _, name := range critics {
		r.Critics = append(r.Critics, of(name, cases, truths, func(c Case) (Verdict, bool) { return b.Verdict(c.ID, name) }))
	}
	r.Rounds = rounds(cases, truths)
	r.Cheapest = cheapest(r.Critics)
	for i, c := range cases {
		if d, is := differ(b, c, critics); is {
			d.Truth = truths[i]
			for _, e := range c.Evidence {
				if slices.Contains(sources, e.Source) {
					d.Why = append(d.Why, e.Source+": "+e.Why)
				}
			}
			r.Differ = append(r.Differ, d)
		}
	}
	return r
}

func (r *Report) count(c Case, t Truth, contested bool, sources []string) {
	switch t {
	case Good:
		r.Good++
	case Bad:
		r.Bad++
	case Unknown:
		r.Unknown++
	}
	if contested {
		r.Contested++
	}
	for _, s := range sources {
		if slices.ContainsFunc(c.Evidence, func(e Evidence) bool { return e.Source == s }) {
			r.Sources[s]++
		}
	}
}

// of says how a critic has done.
func of(name string, cases []Case, truths []Truth, says func(Case) (Verdict, bool)) Critic {
	k := Critic{Name: name, CostUSD: new(0.0), caught: map[string]bool{}}
	for i, c := range cases {
		v, judged := says(c)
		if !judged {
			continue
		}
		k.Judged++
		k.Seconds += v.Seconds
		if v.CostUSD == nil {
			k.CostUSD = nil
		} else if k.CostUSD != nil {
			*k.CostUSD += *v.CostUSD
		}
		if !v.Decides() {
			k.None++
			continue
		}
		switch right := v.Approves() == (truths[i] == Good); truths[i] {
		case Good:
			k.FalseAlarms.Count(!right)
			k.Agreement.Count(right)
		case Bad:
			k.Misses.Count(!right)
			k.Agreement.Count(right)
			if right {
				k.caught[c.ID] = true
			}
		case Unknown:
		}
	}
	k.share()
	return k
}

// share divides what it has cost.
func (k *Critic) share() {
	for _, r := range []*Rate{&k.Misses, &k.FalseAlarms, &k.Agreement} {
		r.Close()
	}
	if k.Judged == 0 {
		k.CostUSD = nil
		return
	}
	k.SecsEach = k.Seconds / float64(k.Judged)
	caught := float64(len(k.caught))
	if caught > 0 {
		k.SecsCatch = new(k.Seconds / caught)
	}
	if k.CostUSD == nil {
		return
	}
	k.PerCase = new(*k.CostUSD / float64(k.Judged))
	if caught > 0 {
		k.PerCaught = new(*k.CostUSD / caught)
	}
}

// rounds says what the nth verdicts found.
func rounds(cases []Case, truths []Truth) (all []Round) {
	byN := map[int]*Round{}
	for i, c := range cases {
		n := byN[c.Iteration]
		if n == nil {
			n = &Round{N: c.Iteration}
			byN[c.Iteration] = n
		}
		n.Judged++
		if !c.Recorded.Decides() || c.Recorded.Approves() {
			continue
		}
		n.Rejected++
		if truths[i] == Unknown {
			n.Unknown++
		} else {
			n.Real.Count(truths[i] == Bad)
		}
	}
	for _, n := range byN {
		n.Real.Close()
		all = append(all, *n)
	}
	slices.SortFunc(all, func(a, b Round) int { return cmp.Compare(a.N, b.N) })
	return all
}

// cheapest finds the cheapest critic that would have caught the same. Only critics that judged as many cases compare.
func cheapest(critics []Critic) *Cheapest {
	judged := 0
	for _, k := range critics {
		judged = max(judged, k.Judged)
	}
	critics = slices.DeleteFunc(slices.Clone(critics), func(k Critic) bool { return k.Judged < judged })
	if len(critics) == 0 {
		return nil
	}
	best := slices.MaxFunc(critics, func(a, b Critic) int { return cmp.Compare(len(a.caught), len(b.caught)) })
	var found *Cheapest
	for _, k := range critics {
		all := k.PerCase != nil && len(best.caught) > 0
		for id := range best.caught {
			all = all && k.caught[id]
		}
		if all && (found == nil || *k.PerCase < found.PerCase) {
			found = &Cheapest{Name: k.Name, Like: best.Name, Caught: len(best.caught), PerCase: *k.PerCase}
		}
	}
	return found
}

// differ reports whether the critics disagree about a case.
func differ(b *Book, c Case, critics []string) (d Difference, is bool) {
	yes, no := 0, 0
	d = Difference{Case: c.ID, Task: c.Task, Diff: c.Diff(), Verdicts: map[string]string{}, of: c}
	say := func(name string, v Verdict) {
		d.Verdicts[name] = v.Word()
		switch {
		case !v.Decides():
		case v.Approves():
			yes++
		default:
			no++
		}
	}
	say(Recorded, c.Recorded)
	for _, name := range critics {
		if v, judged := b.Verdict(c.ID, name); judged {
			say(name, v)
		}
	}
	return d, yes > 0 && no > 0
}

// Attach reads the work on which critics differ, for a page to show.
func (r *Report) Attach() {
	var h history
	was := ""
	for i := range r.Differ {
		d := &r.Differ[i]
		if d.of.Log != was { // the cases of a session follow each other
			h, _ = read(d.of.Log) // a log that is gone has nothing to show
			was = d.of.Log
		}
		for _, one := range h.rounds {
			if one.Iteration == d.of.Iteration {
				d.work = one.Change.Patch()
			}
		}
	}
}

// Few says why there is no figure; "" if there are enough cases.
func (r Report) Few() string {
	if r.Good+r.Bad >= Enough {
		return ""
	}
	return fmt.Sprintf("Something is known of %d of %d cases, which is too little for figures: at least %d are needed. Label some yourself: codeloops eval label ID good|bad \"why\".", r.Good+r.Bad, r.Cases, Enough)
}
