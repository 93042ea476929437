package trial

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"codeloops/internal/eval"
	"codeloops/internal/wording"
)

// A Row is how one configuration has done.
type Row struct {
	Config    string    `json:"config"`
	Solved    eval.Rate `json:"solved"`     // done, and the check passed
	FalseDone eval.Rate `json:"false_done"` // done, and the check failed
	Rounds    float64   `json:"rounds"`     // on average
	CostUSD   *float64  `json:"cost_usd"`   // of all its trials; nil: some are not known
	PerSolved *float64  `json:"cost_per_solved_usd"`
	Seconds   float64   `json:"secs"` // on average
}

// A Pair compares two configurations on the trials that both have.
type Pair struct {
	A     string  `json:"a"`
	B     string  `json:"b"`
	Both  int     `json:"both"`
	OnlyA int     `json:"only_a"` // solved by
	OnlyB int     `json:"only_b"`
	None  int     `json:"none"`
	P     float64 `json:"p"` // see [eval.Paired]
}

// A Report is what came of all trials.
type Report struct {
	Rows  []Row    `json:"configs"`
	Pairs []Pair   `json:"pairs"` // of the first configuration with each other one
	All   []Result `json:"trials"`
}

// NewReport sums up results.
func NewReport(all []Result, configs []Config) Report {
	r := Report{All: all}
	for i, c := range configs {
		r.Rows = append(r.Rows, rowOf(c.Name, all))
		if i > 0 {
			r.Pairs = append(r.Pairs, pairOf(configs[0].Name, c.Name, all))
		}
	}
	return r
}

func rowOf(name string, all []Result) Row {
	row, usd, solved, n := Row{Config: name}, new(0.0), 0, 0
	for _, r := range all {
		if r.Config != name {
			continue
		}
		n++
		row.Solved.Count(r.Done && r.Passed)
		row.FalseDone.Count(r.Done && !r.Passed)
		row.Rounds += float64(r.Rounds)
		row.Seconds += r.Seconds
		if r.CostUSD == nil {
			usd = nil
		} else if usd != nil {
			*usd += *r.CostUSD
		}
		if r.Done && r.Passed {
			solved++
		}
	}
	row.Solved.Close()
	row.FalseDone.Close()
	if n == 0 {
		return row
	}
	row.Rounds, row.Seconds, row.CostUSD = row.Rounds/float64(n), row.Seconds/float64(n), usd
	if usd != nil && solved > 0 {
		row.PerSolved = new(*usd / float64(solved))
	}
	return row
}

func pairOf(a, b string, all []Result) Pair {
	p := Pair{A: a, B: b}
	for _, x := range all {
		at := slices.IndexFunc(all, func(y Result) bool { return y.Task == x.Task && y.N == x.N && y.Config == b })
		if x.Config != a || at < 0 {
			continue
		}
		y := all[at]
		switch first, second := x.Done && x.Passed, y.Done && y.Passed; {
		case first && second:
			p.Both++
		case first:
			p.OnlyA++
		case second:
			p.OnlyB++
		default:
			p.None++
		}
	}
	p.P = eval.Paired(p.OnlyA, p.OnlyB)
	return p
}

// Tables returns the report for people.
func (r Report) Tables() []eval.Table {
	t := eval.Table{Title: "Configurations", Head: []string{"configuration", "solved", "false DONE", "rounds", "s/task", "cost/solved"}}
	for _, row := range r.Rows {
		t.Rows = append(t.Rows, []string{row.Config, row.Solved.String(), row.FalseDone.String(), fmt.Sprintf("%.1f", row.Rounds), fmt.Sprintf("%.1f", row.Seconds), eval.Dollars(row.PerSolved)})
	}
	all := []eval.Table{t}
	for _, p := range r.Pairs {
		all = append(all, eval.Table{
			Title: p.A + " beside " + p.B,
			Note:  fmt.Sprintf("On the same tasks: both solved %d, only %s %d, only %s %d, neither %d. If they were equally good, a split as uneven as that had a chance of %.2g (exact sign test).", p.Both, p.A, p.OnlyA, p.B, p.OnlyB, p.None, p.P),
		})
	}
	trials := eval.Table{Title: "Trials that were not solved", Head: []string{"task", "configuration", "n", "the loop", "why"}}
	for _, x := range r.All {
		said := "DONE"
		if !x.Done {
			said = "not done"
		}
		if !x.Done || !x.Passed {
			trials.Rows = append(trials.Rows, []string{x.Task, x.Config, strconv.Itoa(x.N), said, firstLine(x.Why)})
		}
	}
	if len(trials.Rows) == 0 {
		trials.Note = "None."
	}
	return append(all, trials)
}

// firstLine is the first line of what a check printed that says something.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return wording.Line(line)
}
