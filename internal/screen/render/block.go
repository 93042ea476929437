package render

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"codeloops/internal/loop"
	"codeloops/internal/screen/term"
	"codeloops/internal/screen/words"
)

// block shows an iteration on one line: its turns, what changed, the checks, the decision.
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

// remains shows what is left of a finished turn.
func (p *page) remains(r loop.Round) []string {
	return each(Remains(r.Attempt, r.Change.Files, p.Width), func(line string) string { return p.faint.Render(line) })
}

// Remains says what is left of a finished turn: the actor's last words, and the files that differ.
func Remains(a loop.Attempt, files []loop.FileChange, width int) (lines []string) {
	if said := lastWords(a.Stdout.Text); said != "" && !a.Rejudged {
		lines = append(lines, Cut("    says  "+said, width))
	}
	const most = 6 // files
	var parts []string
	for i, f := range files {
		if i == most && len(files) > most+1 {
			parts = append(parts, fmt.Sprintf("%d more", len(files)-most))
			break
		}
		lines := Lines(f.Insertions, f.Deletions)
		if f.Binary {
			lines = "binary"
		}
		parts = append(parts, Quoted(f.Path)+" "+lines)
	}
	if len(parts) > 0 {
		parts[0] = "    files " + parts[0]
		lines = append(lines, Flow(parts, Dot, 10, width)...)
	}
	return lines
}

// lastWords returns the last line of a text that has words.
func lastWords(text string) string {
	for _, line := range slices.Backward(cleanLines(text)) {
		if strings.ContainsFunc(line, unicode.IsLetter) {
			return term.Line(line)
		}
	}
	return ""
}

// Flow joins parts with dots, on as many lines as needed; all but the first are indented.
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

// Dot separates the parts of a line.
const Dot = " · "

// judged says who judged an iteration, and how long it took; "" if nobody was asked.
func (p *page) judged(r loop.Round) string {
	switch {
	case r.Unjudged:
		return "critic not asked"
	case len(r.Review.Votes) > 0:
		return "panel " + Span(r.Review.Duration) + "," + strings.Replace(Poll(r.Review.Votes), "  ", " ", 1)
	case r.Review.Ending == "" && r.Review.Duration == 0: // the strategy has no critic
		return ""
	}
	return "critic " + took(r.Review.Turn) + PlayedBy(p.state.Session.Critic, r.Review.Turn)
}

// PartActor describes a turn of the actor as a part of a line.
func PartActor(expected loop.AgentRef, a loop.Attempt) string {
	if a.Rejudged {
		return "actor not asked"
	}
	return "actor " + took(a.Turn) + PlayedBy(expected, a.Turn)
}

// PartChange describes the size of a change as a part of a line.
func PartChange(s loop.Shape) string {
	if s.Files == 0 {
		return "no changes"
	}
	return Count(s.Files, "file", "files") + " " + Lines(s.Insertions, s.Deletions)
}

// Lines writes how many lines were added and removed.
func Lines(added, removed int) string { return fmt.Sprintf("+%d −%d", added, removed) }

// PartChecks counts the checks that passed, as a part of a line; "" if there were none.
func PartChecks(checks []loop.CheckResult) string {
	if len(checks) == 0 {
		return ""
	}
	return fmt.Sprintf("checks %d/%d", len(checks)-failing(checks), len(checks))
}
