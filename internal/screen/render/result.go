package render

import (
	"cmp"
	"fmt"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/loop/progress"
	"codeloops/internal/screen/term"
	"codeloops/internal/screen/words"
)

// How much of the result is shown on a terminal, so that it fits on a screen.
const (
	mostSummary = 8 // lines
	mostFiles   = 6
)

// end writes the result of a run: how it ended, its summary, time and cost, what changed, and how
// to go on.
func (p *page) end(o loop.Outcome) {
	changed := p.currentSize(o)
	lines := p.wrap(p.ended(o))
	// The caller reports an internal failure as an error, with its hint; an interruption needs no
	// explanation.
	if o.Reason != loop.StopInternal && o.Reason != loop.StopInterrupted {
		lines = append(lines, p.summary(o.Summary)...)
	}
	if text := words.Remedy(o); text != "" {
		lines = append(lines, p.wrap("  "+text)...)
	}
	if o.ActorError != "" && !strings.Contains(o.Summary, o.ActorError) {
		lines = append(lines, p.wrap("  the actor's last turn failed: "+term.Line(o.ActorError))...)
	}
	if changed != nil {
		lines = append(lines, "  "+Stat(*changed))
		lines = append(lines, p.named()...)
	}
	lines = append(lines, p.candidates()...)
	if text := Findings(p.state.Tally); text != "" {
		lines = append(lines, "  findings: "+text)
	}
	lines = append(lines, p.totals()...)
	lines = append(lines, "  "+p.ends.faint.Render("log: "+p.Log()))
	if p.Next != nil && !p.Quiet {
		for _, step := range p.Next(o, changed != nil && changed.Files > 0) {
			lines = append(lines, "  "+p.ends.faint.Render(step.For+": ")+step.Command)
		}
	}
	for _, step := range p.others() {
		lines = append(lines, "  "+p.ends.faint.Render(step.For+": ")+step.Command)
	}
	p.print(p.Out, strings.Join(lines, "\n")+"\n")
}

func (p *page) ended(o loop.Outcome) string {
	said := fmt.Sprintf("%s after %s in %s%s", p.headline(o), Count(o.Iterations, "iteration", "iterations"), Span(o.Duration), WaitNote(p.state.Waited()))
	if o.Confidence != nil {
		said += fmt.Sprintf(", confidence %.2f (%s)", *o.Confidence, words.Confidence(*o.Confidence))
	}
	return said + LeftOpen(o)
}

func (p *page) wrap(line string) []string { return wrapped(line, 2, p.Room) }

// summary is what was said at the end, cut only on a terminal.
func (p *page) summary(text string) []string {
	room := p.Room
	if room < Whole {
		room -= 2
	}
	lines := p.ends.prose(text, room)
	if left := len(lines) - mostSummary; p.Room < Whole && left > 1 {
		lines = append(lines[:mostSummary:mostSummary], p.ends.faint.Render(fmt.Sprintf("… %d more lines: codeloops sessions show", left)))
	}
	return each(lines, func(line string) string { return "  " + line })
}

// currentSize returns the size of the current change; nil: it is unknown.
func (p *page) currentSize(o loop.Outcome) *loop.Shape {
	if o.Reason == loop.StopConflict { // the tree holds somebody else's changes, too
		return &loop.Shape{Files: p.state.FilesChanged, Insertions: p.state.Insertions, Deletions: p.state.Deletions}
	}
	if p.state.Change != nil || p.Now == nil || p.Quiet {
		return p.state.Change
	}
	c, ok := p.Now()
	if !ok {
		return nil
	}
	p.files = c.Files
	return new(c.Shape())
}

// named lists the changed files, cut only on a terminal.
func (p *page) named() (lines []string) {
	if p.Quiet {
		return nil
	}
	for i, f := range p.files {
		if i == mostFiles && p.Room < Whole && len(p.files) > mostFiles+1 {
			return append(lines, p.ends.faint.Render(fmt.Sprintf("    … %d more files", len(p.files)-i)))
		}
		facts := fmt.Sprintf("+%d -%d", f.Insertions, f.Deletions)
		if f.Binary {
			facts = fmt.Sprintf("%d -> %d bytes", f.OldSize, f.NewSize)
		}
		lines = append(lines, fmt.Sprintf("    %s %s  %s", Letter(f.Status), Quoted(f.Path), p.ends.faint.Render(facts)))
	}
	return lines
}

// Letter returns git's letter for what happened to a file.
func Letter(s loop.FileStatus) string {
	return cmp.Or(map[loop.FileStatus]string{loop.FileAdded: "A", loop.FileDeleted: "D", loop.FileRenamed: "R"}[s], "M")
}

func (p *page) totals() (lines []string) {
	var parts []string
	for _, part := range []struct {
		name string
		of   progress.Part
	}{{"actor", p.state.Actor}, {"critic", p.state.Critic}} {
		if part.of.Turns > 0 {
			parts = append(parts, fmt.Sprintf("%s %s, %s", part.name, Count(part.of.Turns, "turn", "turns"), Span(part.of.Time)))
		}
	}
	if p.state.CheckTime > 0 {
		parts = append(parts, "checks "+Span(p.state.CheckTime))
	}
	if len(parts) > 0 && !p.Quiet {
		lines = append(lines, p.wrap("  "+strings.Join(parts, "; "))...)
	}
	if text := cost(p.state.Spent.Total()); text != "" {
		lines = append(lines, p.wrap("  "+text)...)
	}
	return lines
}

// cost says what the turns used, and how good the figures are; "" if nothing is known.
func cost(s loop.Spent) string {
	var parts []string
	basis := loop.NoBasis
	if s.Tokens > 0 {
		parts, basis = append(parts, Tokens(s.Tokens)+" tokens"), basis.And(s.TokensBasis)
	}
	if s.CostUSD > 0 {
		parts, basis = append(parts, fmt.Sprintf("$%.2f", s.CostUSD)), basis.And(s.CostBasis)
	}
	if parts == nil {
		return ""
	}
	return strings.Join(append(parts, BasisNote(basis)), ", ")
}

// settled says which findings a round has settled.
func (p *page) settled(r loop.Round) []string { return Settled(p.state.Found, r.Findings) }

// Settled says which findings a review closes or withdraws, a line each.
func Settled(before, after []loop.Finding) (lines []string) {
	for _, f := range loop.Settled(before, after) {
		how := "settled"
		if f.State == loop.FindingWithdrawn {
			how = "withdrawn"
		}
		lines = append(lines, term.Line(f.ID+" "+how+": "+f.Text))
	}
	return lines
}

// Findings counts a session's findings, if a critic marked some as optional.
func Findings(t progress.Tally) string {
	if t.Mays == 0 {
		return ""
	}
	return fmt.Sprintf("%d must, %d may", t.Musts, t.Mays)
}

// LeftOpen says what a DONE left open, as an addition to how the run ended.
func LeftOpen(o loop.Outcome) (text string) {
	if o.NothingChanged {
		text = ", nothing changed"
	}
	if o.Unmentioned > 0 {
		text += fmt.Sprintf(", %s left unmentioned", Count(o.Unmentioned, "finding", "findings"))
	}
	return text
}

func (p *page) headline(o loop.Outcome) string {
	switch o.Result {
	case loop.Success:
		return p.ends.good.Bold(true).Render("Done")
	case loop.MaxIterations:
		what := "the iteration limit was reached"
		switch {
		case o.Bounded():
			what = words.End(o)
		case p.state.Session.Judged:
			what = "the critic does not approve the work"
		}
		return p.ends.warn.Bold(true).Render("Not done: " + what)
	case loop.BudgetExhausted:
		return p.ends.warn.Bold(true).Render(fmt.Sprintf("Not done: out of budget (%s)", words.Stop(o.Reason)))
	case loop.Interrupted:
		if o.Stopped() {
			return p.ends.warn.Bold(true).Render("Stopped")
		}
		return p.ends.warn.Bold(true).Render("Interrupted")
	case loop.Failed:
	}
	return p.ends.bad.Bold(true).Render(fmt.Sprintf("Failed (%s)", words.End(o)))
}
