package render

import (
	"fmt"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/loop/progress"
	"codeloops/internal/screen/term"
)

// resultWidth bounds a line of the result, in columns. It is not the
// terminal's: what a run came to is not cut to fit.
const resultWidth = 1000

// end writes the result of a run: how it ended, what was said, what changed,
// where the log is and how it is carried on.
func (p *page) end(o loop.Outcome) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s after %s in %s%s", p.headline(o), Count(o.Iterations, "iteration", "iterations"), Span(o.Duration), OfIt(p.state.Waited()))
	if o.Confidence != nil {
		fmt.Fprintf(&b, ", confidence %.2f", *o.Confidence)
	}
	b.WriteString(LeftOpen(o) + "\n")
	// What broke inside is reported as an error, with its hint, by the caller;
	// an interruption has nothing more to say.
	if o.Reason != loop.StopInternal && o.Reason != loop.StopInterrupted {
		for _, line := range Excerpt(o.Summary, 12, max(p.Width, resultWidth)) {
			b.WriteString("  " + line + "\n")
		}
	}
	if o.ActorError != "" && !strings.Contains(o.Summary, o.ActorError) {
		fmt.Fprintf(&b, "  the actor's last turn failed: %s\n", term.Line(o.ActorError))
	}
	if p.state.Change != nil {
		fmt.Fprintf(&b, "  %s\n", Stat(*p.state.Change))
	}
	if text := Findings(p.state.Tally); text != "" {
		b.WriteString("  findings: " + text + "\n")
	}
	if spent := p.state.Spent.Total(); spent.CostUSD > 0 {
		fmt.Fprintf(&b, "  %s\n", cost(spent))
	}
	if p.Log != nil {
		fmt.Fprintf(&b, "  %s\n", p.result.faint.Render("log: "+p.Log()))
	}
	if p.CarryOn != nil && !p.Quiet {
		if command := p.CarryOn(o); command != "" {
			fmt.Fprintf(&b, "  %s\n", p.result.faint.Render("carry on: "+command))
		}
	}
	p.print(p.Result, b.String())
}

// Findings counts those of a session, where a critic has marked some as not binding.
func Findings(t progress.Tally) string {
	if t.Mays == 0 {
		return ""
	}
	return fmt.Sprintf("%d must, %d may", t.Musts, t.Mays)
}

// LeftOpen says, as an addition to how a run ended, what its DONE has left open.
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
		return p.result.good.Bold(true).Render("Done")
	case loop.MaxIterations:
		return p.result.warn.Bold(true).Render("Not done: the iteration limit was reached")
	case loop.BudgetExhausted:
		return p.result.warn.Bold(true).Render(fmt.Sprintf("Not done: out of budget (%s)", o.Reason))
	case loop.Interrupted:
		return p.result.warn.Bold(true).Render("Interrupted")
	case loop.Failed:
	}
	return p.result.bad.Bold(true).Render(fmt.Sprintf("Failed (%s)", o.Reason))
}
