package render

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"codeloops/internal/loop"
	"codeloops/internal/screen/words"
)

// A block is an iteration in one line: what its turns took, what has changed, how the checks
// went, what was decided.
func (p *page) block(r loop.Round) (lines []string) {
	parts := []string{PartActor(p.state.Session.Actor, r.Attempt), PartChange(r.Change.Shape())}
	if r.Attempt.Ending != loop.EndCompleted && r.Attempt.Ending != "" {
		parts[0] = p.bad.Render(parts[0])
	}
	if checks := PartChecks(r.Checks); checks != "" {
		style := p.good
		if failing(r.Checks) > 0 {
			style = p.bad
		}
		parts = append(parts, style.Render(checks))
	}
	if judged := p.judged(r); judged != "" {
		parts = append(parts, judged)
	}
	decided := p.decision(r.Verdict)
	if r.Rule != "" {
		decided += " " + words.Rule(r.Rule)
	}
	parts[0] = "  " + parts[0]
	return Flow(append(parts, decided), Dot, 4, p.Width)
}

// Flow sets parts of a line apart with dots, in as many lines as it takes; the further ones are
// indented.
func Flow(parts []string, dot string, indent, width int) (lines []string) {
	line := ""
	for _, part := range parts {
		switch {
		case line == "":
			broken := wrapped(part, indent, width)
			lines, line = broken[:len(broken)-1:len(broken)-1], broken[len(broken)-1]
		case ansi.StringWidth(line+dot+part) <= width:
			line += dot + part
		default:
			lines, line = append(lines, line), strings.Repeat(" ", indent)+part
		}
	}
	return append(lines, line)
}

// Dot sets the parts of a line apart.
const Dot = " · "

// judged says who judged an iteration, and how long it took; "" where that tells nothing.
func (p *page) judged(r loop.Round) string {
	switch {
	case r.Unjudged:
		return "critic not asked"
	case len(r.Review.Votes) > 0:
		return "panel " + Span(r.Review.Duration) + "," + strings.Replace(Poll(r.Review.Votes), "  ", " ", 1)
	case r.Review.Ending == "" && r.Review.Duration == 0: // the strategy asks none
		return ""
	}
	return "critic " + took(r.Review.Turn) + By(p.state.Session.Critic, r.Review.Turn)
}

// PartActor is a turn of the actor as a part of a line.
func PartActor(expected loop.AgentRef, a loop.Attempt) string {
	if a.Rejudged {
		return "actor not asked"
	}
	return "actor " + took(a.Turn) + By(expected, a.Turn)
}

// PartChange is the size of a change as a part of a line.
func PartChange(s loop.Shape) string {
	if s.Files == 0 {
		return "no changes"
	}
	return Count(s.Files, "file", "files") + " " + Lines(s.Insertions, s.Deletions)
}

// Lines writes how many lines were added, and taken away.
func Lines(added, removed int) string { return fmt.Sprintf("+%d −%d", added, removed) }

// PartChecks is how the checks went, as a part of a line; "" where there were none.
func PartChecks(checks []loop.CheckResult) string {
	if len(checks) == 0 {
		return ""
	}
	return fmt.Sprintf("checks %d/%d", len(checks)-failing(checks), len(checks))
}
