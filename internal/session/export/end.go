package export

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/screen/render"
	"codeloops/internal/screen/words"
	"codeloops/internal/session/sessionview"
)

// An end is the end of a file.
type end struct {
	Came        came
	Took        string
	All         change // everything that changed
	Rows        []row  // of the iterations
	Open        []fact // findings, by their IDs
	Notes       []note
	Facts       []fact
	Summary     text
	Remedy      text // what to do about it
	Version, ID string
}

// A row is an iteration in a table: words and figures of ours alone.
type row struct {
	Number                   int
	Word, Stat, Checks, Took string
}

// row is an iteration in the table.
func (p *page) row(r loop.Round) {
	one := row{Number: r.Iteration, Word: known(r.Verdict.Word()), Stat: render.Stat(r.Change.Shape()), Took: render.Span(r.Attempt.Duration + r.Review.Duration)}
	if n := len(r.Checks); n > 0 {
		passed := len(slices.DeleteFunc(slices.Clone(r.Checks), func(c loop.CheckResult) bool { return !c.Passed() }))
		one.Checks = fmt.Sprintf("%d of %d passed", passed, n)
	}
	p.rows = append(p.rows, one)
}

func (p *page) end() {
	status := string(p.opts.Session.Status)
	e := end{Version: line(p.opts.Session.Session.Version), ID: line(p.id)}
	switch {
	case p.brief:
		e.All.Stat = render.Stat(p.change.Shape())
		for _, f := range p.change.Files[:min(len(p.change.Files), mostNamed)] {
			e.All.Files = append(e.All.Files, named(f))
		}
		if more := len(p.change.Files) - mostNamed; more > 0 {
			e.All.More = fmt.Sprintf("%d more", more)
		}
	case len(p.state.Closed) != 1: // else the iteration's diff shows all of it
		e.All = p.changed(p.change, 0)
	}
	e.Notes, e.Facts, e.Rows = p.takeNotes(), p.ending(), p.rows
	for _, f := range p.state.Found {
		if f.Raised() {
			e.Open = append(e.Open, fact{f.ID, line(f.Text)})
		}
	}
	if p.outcome != nil {
		status, e.Summary = string(p.outcome.Result), p.words("", p.outcome.Summary)
	}
	e.Came = cameTo(status, line(words.Outcome(status)))
	p.show("end", e)
}

// ending is the facts of the end.
func (p *page) ending() []fact {
	all := []fact{{"Iterations", strconv.Itoa(p.state.Iterations)}}
	if p.outcome != nil {
		if p.outcome.Reason != loop.StopNone {
			all = append(all, fact{"Reason", words.End(*p.outcome) + render.LeftOpen(*p.outcome)})
		}
		if c := p.outcome.Confidence; c != nil {
			all = append(all, fact{"Confidence", fmt.Sprintf("%.2f", *c)})
		}
	}
	all = append(all, fact{"Findings", render.Findings(p.state.Tally)})
	if cost := sessionview.Cost(&p.state.Tally); cost != "-" {
		all = append(all, fact{"Cost", cost + ", " + sessionview.CostBasis(&p.state.Tally)})
	}
	all = append(all, fact{"Agents at work", render.Span(p.state.Actor.Time + p.state.Critic.Time + p.working)}, fact{"Waited for services", waited(p.state.Waited())})
	return slices.DeleteFunc(all, func(f fact) bool { return f.Value == "" })
}

func waited(d time.Duration) string {
	if d <= 0 {
		return ""
	}
	return render.Span(d)
}
