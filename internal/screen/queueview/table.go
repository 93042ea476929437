package queueview

import (
	"fmt"
	"strings"

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

// table lists tasks for people, fitted to the terminal's width.
func (v *View) table(s *term.Streams) error {
	sorted, style := v.Tasks.Sorted(), s.OutRenderer()
	t := v.tasks(sorted)
	t.Style = func(row, column int, cell string) string {
		switch {
		case row == 0:
			return style.NewStyle().Faint(true).Render(cell)
		case column == columnState:
			return inColour(style, sorted[row-1].State, cell)
		}
		return cell
	}
	for _, line := range t.Lines(s.OutWidth()) {
		if s.ASCII {
			line = term.ASCII(strings.ReplaceAll(line, "…", "~")) // "..." would be too wide
		}
		if _, err := fmt.Fprintln(s.Out, line); err != nil {
			return err
		}
	}
	return nil
}

func (v *View) tasks(sorted []*queue.Record) *term.Table {
	const widestDoing = 44
	rows := [][]string{{"ID", "STATE", "ATTEMPT", "WORKER", "ITER", "DOING", "SINCE", "COST", "TASK"}}
	for _, r := range sorted {
		rows = append(rows, []string{
			r.Task.ID, string(r.State), count(r.Attempt), term.Line(r.Worker.Name), count(r.Progress.Iteration),
			term.Fit(v.doing(r), widestDoing), since(r, v.Now), dollars(r.Progress.Dollars), term.Line(r.Task.Title()),
		})
	}
	return &term.Table{
		Rows: rows, Least: 14, Sparse: true,
		Right: []int{columnAttempt, columnIteration, columnCost},
		Drop:  []int{columnWorker, columnAttempt, columnCost, columnIteration},
		Cut:   []int{columnDoing, columnSince, columnTask},
	}
}

// doing says what a task is doing or waits for.
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
