// Package queueview shows where the tasks of a queue stand.
package queueview

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"codeloops/internal/queue"
	"codeloops/internal/screen/term"
)

// The columns of the list of tasks.
const (
	columnTask = iota
	columnState
	columnAttempt
	columnWorker
	columnIteration
	columnDoing
	columnSince
	columnCost
	columnTitle
)

// table lists tasks for people, as wide as the terminal is: what the last column has no room for is cut,
// and where that is too little, some of the others are left out.
func (v *View) table(s *term.Streams) error {
	rows := [][]string{{"ID", "STATE", "ATTEMPT", "WORKER", "ITER", "DOING", "SINCE", "COST", "TASK"}}
	sorted := v.Tasks.Sorted()
	for _, r := range sorted {
		rows = append(rows, []string{
			r.Task.ID, string(r.State), count(r.Attempt), term.Line(r.Worker.Name), count(r.Progress.Iteration),
			v.doing(r), since(r, v.Now), dollars(r.Progress.Dollars), term.Line(r.Task.Title()),
		})
	}
	widths := taskColumns(rows, s.OutWidth())
	style := s.OutRenderer()
	for i, row := range rows {
		var cells []string
		for c, width := range widths {
			if width == 0 {
				continue
			}
			cell := term.Fit(row[c], width)
			blank := strings.Repeat(" ", max(0, width-ansi.StringWidth(cell)))
			switch {
			case i == 0:
				cell = style.NewStyle().Faint(true).Render(cell)
			case c == columnState:
				cell = inColour(style, sorted[i-1].State, cell)
			}
			if c == columnAttempt || c == columnIteration || c == columnCost {
				cells = append(cells, blank+cell)
				continue
			}
			cells = append(cells, cell+blank)
		}
		text := strings.TrimRight(strings.Join(cells, "  "), " ")
		if s.ASCII {
			text = strings.ReplaceAll(term.ASCII(text), "…", "~")
		}
		if _, err := fmt.Fprintln(s.Out, text); err != nil {
			return err
		}
	}
	return nil
}

// How wide columns are at most, and the room below which a title says nothing.
const (
	widestDoing = 44
	leastTitle  = 14
)

// taskColumns is the width of each column, 0 for those that have no room, or nothing to say.
func taskColumns(rows [][]string, width int) []int {
	widths := make([]int, len(rows[0]))
	for c := range widths {
		said := false
		for i, row := range rows {
			widths[c] = max(widths[c], ansi.StringWidth(row[c]))
			said = said || i > 0 && row[c] != "" && row[c] != "-"
		}
		if !said {
			widths[c] = 0
		}
	}
	widths[columnDoing] = min(widths[columnDoing], widestDoing)
	left := func() int {
		left := width
		for _, w := range widths[:columnTitle] {
			if w > 0 {
				left -= w + 2
			}
		}
		return left
	}
	for _, c := range []int{columnWorker, columnAttempt, columnCost, columnIteration} {
		if left() < min(leastTitle, widths[columnTitle]) {
			widths[c] = 0
		}
	}
	if widths[columnTitle] = min(widths[columnTitle], left()); widths[columnTitle] < min(leastTitle, widths[columnTitle]+1) {
		widths[columnTitle] = 0
	}
	for _, c := range []int{columnDoing, columnSince, columnTask} { // what is left is cut
		if over := -left() - 2; over > 0 {
			widths[c] = max(0, widths[c]-over-2)
		}
	}
	return widths
}

// doing says, for people, what a task is doing or waits for.
func (v *View) doing(r *queue.Record) string {
	switch r.State {
	case queue.Running:
		return phase(r)
	case queue.Waiting:
		return v.Tasks.Waits(r, v.Now, v.Holds)
	case queue.Merged, queue.Offered, queue.Finished, queue.NeedsHuman, queue.Failed, queue.Dead, queue.Cancelled:
	}
	return term.Line(r.Why)
}
