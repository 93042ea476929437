package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"codeloops/internal/queue"
	"codeloops/internal/screen/render"
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
func (b *backlog) table(all queue.Backlog, holds *queue.Holds, now time.Time) error {
	a := b.app
	rows := [][]string{{"ID", "STATE", "ATTEMPT", "WORKER", "ITER", "DOING", "SINCE", "COST", "TASK"}}
	sorted := all.Sorted()
	for _, r := range sorted {
		rows = append(rows, []string{
			r.Task.ID, string(r.State), number0(r.Attempt), term.Line(r.Worker.Name), number0(r.Progress.Iteration),
			b.doing(all, r, now, holds), since(r, now), dollars(r.Progress.Dollars), term.Line(r.Task.Title()),
		})
	}
	widths := taskColumns(rows, a.OutWidth())
	style := a.OutRenderer()
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
		line := strings.TrimRight(strings.Join(cells, "  "), " ")
		if a.ASCII {
			line = strings.ReplaceAll(term.ASCII(line), "…", "~")
		}
		if _, err := fmt.Fprintln(a.Out, line); err != nil {
			return err
		}
	}
	return nil
}

// since is how long a task has been where it is.
func since(r *queue.Record, now time.Time) string {
	d := max(0, now.Sub(r.Since))
	if d < time.Minute {
		return fmt.Sprintf("%d s", int(d.Seconds()))
	}
	return render.Span(d)
}

// number0 is a count; "" is none.
func number0(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
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
func (b *backlog) doing(all queue.Backlog, r *queue.Record, now time.Time, holds *queue.Holds) string {
	switch r.State {
	case queue.Running:
		return phaseOf(r)
	case queue.Waiting:
		return all.Waits(r, now, holds)
	case queue.Merged, queue.Offered, queue.Finished, queue.NeedsHuman, queue.Failed, queue.Dead, queue.Cancelled:
	}
	return term.Line(r.Why)
}
