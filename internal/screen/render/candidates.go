package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"codeloops/internal/loop"
	"codeloops/internal/screen/term"
)

// Notes of a strategy that has several candidates do the same task.
const (
	noteThought = "tree.thought"
	noteUnread  = "score.unread"
)

// A candidate is one of several works on the same task, of which one is taken.
type candidate struct {
	step    loop.Step
	state   loop.Step // of its checkpoint
	change  loop.Shape
	checks  string
	score   string
	why     string
	tokens  int64
	dollars float64
}

// candidates are all those of a run that were begun.
type candidates []*candidate

// take takes the next event of a run.
func (all *candidates) take(at loop.Stamp, e loop.Event) {
	switch e := e.(type) { //nolint:gochecksumtype // no other event is about a candidate
	case loop.TurnFinished:
		if e.Iteration > 0 {
			return
		}
		for _, c := range *all {
			if at.Step.In(c.step) {
				c.turn(e)
			}
		}
		if e.Role == "candidate" && !slices.ContainsFunc(*all, func(c *candidate) bool { return at.Step.In(c.step) }) {
			c := &candidate{step: at.Step.Parent()}
			c.turn(e)
			*all = append(*all, c)
		}
	case loop.Noted:
		for _, c := range *all {
			if at.Step.In(c.step) {
				c.noted(at.Step, e)
			}
		}
	}
}

func (c *candidate) turn(e loop.TurnFinished) {
	if k := e.Reply.Usage.Tokens; k != nil {
		c.tokens += k.All()
	}
	if usd := e.Reply.Usage.CostUSD; usd != nil {
		c.dollars += *usd
	}
	if e.Role == "evaluator" {
		c.why = reason(e.Reply.Text)
	}
}

func (c *candidate) noted(step loop.Step, e loop.Noted) {
	switch e.Name {
	case loop.NoteCheckpoint:
		c.state, c.change = step, e.Change.Shape()
	case loop.NoteChecks:
		if n := len(e.Checks); n > 0 {
			c.checks = fmt.Sprintf("%d/%d", n-failing(e.Checks), n)
		}
	case noteThought:
		c.score = term.Line(e.Text)
	case noteUnread:
		c.why = "no score could be read"
	}
}

// reason is the first line behind the score.
func reason(reply string) string {
	for _, line := range cleanLines(reply) {
		words := strings.TrimLeft(strings.ToLower(line), "*#>-_` ")
		if !strings.HasPrefix(words, "score") && strings.ContainsFunc(line, unicode.IsLetter) {
			return term.Line(line)
		}
	}
	return ""
}

func (c *candidate) cost() string {
	switch {
	case c.dollars > 0:
		return Dollars(c.dollars)
	case c.tokens > 0:
		return Tokens(c.tokens) + " tokens"
	}
	return "-"
}

// scored returns those that have a score, in the order of their names.
func (all candidates) scored() candidates {
	some := slices.DeleteFunc(slices.Clone(all), func(c *candidate) bool { return c.score == "" })
	slices.SortFunc(some, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(len(a.step), len(b.step)), cmp.Compare(a.step, b.step))
	})
	return some
}

// candidates shows what the candidates of a run were worth, and which one was taken.
func (p *page) candidates() (lines []string) {
	all := p.tried.scored()
	if len(all) < 2 {
		return nil
	}
	t := term.Table{
		Rows:  [][]string{{"candidate", "change", "checks", "score", "cost", "why"}},
		Right: []int{3, 4}, Drop: []int{4, 1}, Least: 20, Sparse: true, ASCII: p.ASCII,
		Style: func(row, _ int, cell string) string {
			switch {
			case row == 0:
				return p.ends.faint.Render(cell)
			case slices.Contains(p.applied, all[row-1].step):
				return p.ends.strong.Render(cell)
			}
			return cell
		},
	}
	for _, c := range all {
		name := term.Line(string(c.step))
		if slices.Contains(p.applied, c.step) {
			name += " (taken)"
		}
		t.Rows = append(t.Rows, []string{name, PartChange(c.change), c.checks, c.score, c.cost(), c.why})
	}
	width := p.Room
	if width < Whole {
		width -= 2
	}
	return each(t.Lines(width), func(line string) string { return "  " + line })
}

// others says how to look at the best candidate that was not taken, and how to take it.
func (p *page) others() []Step {
	losers := slices.DeleteFunc(p.tried.scored(), func(c *candidate) bool { return c.state == "" || slices.Contains(p.applied, c.step) })
	if p.Others == nil || p.Quiet || len(losers) == 0 || len(p.applied) == 0 {
		return nil
	}
	best := slices.MaxFunc(losers, func(a, b *candidate) int { return cmp.Compare(a.score, b.score) })
	return p.Others(best.state)
}
