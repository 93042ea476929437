package sessionview

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"codeloops/internal/screen/render"
	"codeloops/internal/screen/term"
	"codeloops/internal/session"
)

const mostSearched = 4 << 10

// SearchText returns the text that a picker searches: everything that its list and preview show of a
// session.
func SearchText(o session.Overview) string {
	prompt := o.Session.Prompt
	return strings.Join([]string{
		o.ID, o.Session.WorkingDir, string(o.Status), shortOutcome(string(o.Status)),
		render.Who(o.Session.Actor), render.Who(o.Session.Critic), prompt[:min(len(prompt), mostSearched)],
	}, "\n")
}

// PickLine shows a session as a line of a picker's list.
func (s Screen) PickLine(o session.Overview, zone *time.Location) string {
	cells := []string{padded(o.Started.In(zone).Format("2006-01-02 15:04"), 16)}
	if s.Width >= 76 {
		cells = append(cells, padded(project(o.Session.WorkingDir), 16))
	}
	cells = append(cells,
		padded(s.inColourOf(string(o.Status), shortOutcome(string(o.Status))), 11),
		fmt.Sprintf("%3s", iterations(o, "?")),
		term.Line(o.Session.Prompt))
	return ansi.Truncate(strings.Join(cells, gap), s.Width, "…")
}

func padded(text string, width int) string {
	text = ansi.Truncate(text, width, "…")
	return text + strings.Repeat(" ", max(0, width-ansi.StringWidth(text)))
}

// Preview shows in some lines what a session was for and came to.
func (s Screen) Preview(o session.Overview, zone *time.Location) []string {
	head := fmt.Sprintf("%s  %s", s.strong(term.Line(o.ID)), s.outcome(string(o.Status)))
	head += why(o)
	facts := fmt.Sprintf("%s, took %s", o.Started.In(zone).Format(time.DateTime), render.Span(o.Duration))
	if o.Iterations != session.UnknownIterations {
		facts += ", " + render.Count(o.Iterations, "iteration", "iterations")
	}
	if o.Outcome != nil && o.Outcome.Confidence != nil {
		facts += fmt.Sprintf(", confidence %.2f", *o.Outcome.Confidence)
	}
	if cost := Cost(o.Tally); cost != "-" {
		facts += ", " + cost
	}
	lines := []string{
		head, facts,
		fmt.Sprintf("actor %s, critic %s, in %s", render.Who(o.Session.Actor), render.Who(o.Session.Critic), term.Line(o.Session.WorkingDir)),
	}
	lines = append(append(lines, ""), render.Excerpt(o.Session.Prompt, 5, s.Width)...)
	if o.Outcome != nil && strings.TrimSpace(o.Outcome.Summary) != "" {
		lines = append(lines, "")
		for _, line := range render.Excerpt(o.Outcome.Summary, 5, s.Width) {
			lines = append(lines, s.faint(line))
		}
	}
	return lines
}
