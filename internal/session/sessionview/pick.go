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
