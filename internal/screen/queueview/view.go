// Package queueview shows the tasks of a queue.
package queueview

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/lipgloss"

	"codeloops/internal/queue"
	"codeloops/internal/screen/term"
	"codeloops/internal/wording"
)

// A View is the state of tasks at a moment.
type View struct {
	Tasks   queue.Backlog
	Budgets []queue.Budget
	Holds   *queue.Holds
	Now     time.Time
	States  []string // of the tasks that are listed; none is all
}

// listed returns the tasks that are listed, in order.
func (v *View) listed() []*queue.Record {
	return slices.DeleteFunc(v.Tasks.Sorted(), func(r *queue.Record) bool { return len(v.States) > 0 && !slices.Contains(v.States, string(r.State)) })
}

// List writes the tasks, which go to standard output: for people if that is a terminal, otherwise for programs.
func (v *View) List(w io.Writer, s *term.Streams) error {
	if s.OutTTY {
		if len(v.Tasks) == 0 {
			_, err := fmt.Fprintln(w, `no tasks: codeloops queue add "what to do" adds one`)
			return err
		}
		return v.table(w, s)
	}
	for _, r := range v.listed() {
		cells := []string{
			r.Task.ID, string(r.State), strconv.Itoa(r.Attempt), r.Worker.Name, strconv.Itoa(r.Progress.Iteration), r.Progress.Phase,
			strconv.Itoa(int(v.Now.Sub(r.Since).Seconds())), dollars(r.Progress.Dollars), term.Line(r.Task.Title()),
		}
		if _, err := fmt.Fprintln(w, strings.Join(cells, "\t")); err != nil {
			return err
		}
	}
	return nil
}

// Document is the list as a JSON object.
func (v *View) Document() any {
	return struct {
		Tasks   []*queue.Record `json:"tasks"`
		Budgets []queue.Budget  `json:"budgets,omitempty"`
	}{v.listed(), v.Budgets}
}

// Left says what is left to do, and how to go on with the first task that needs a person.
func (v *View) Left() string {
	number, first, asks := map[queue.State]int{}, "", ""
	for _, r := range v.Tasks.Sorted() {
		if r.Done() {
			continue
		}
		number[r.State]++
		switch {
		case r.AwaitsWord():
			asks = cmp.Or(asks, r.Task.ID)
		case r.State.Over():
			first = cmp.Or(first, r.Task.ID)
		}
	}
	text := "left: " + strings.Join(counts(number, ""), ", ") + "\n"
	if asks != "" {
		text += "codeloops queue diff " + asks + " shows its result; codeloops queue accept " + asks + " merges it, codeloops queue reject " + asks + " \"why\" sends it back\n"
	}
	if first != "" {
		text += "codeloops queue show " + first + " says why; codeloops queue retry " + first + " has it tried again\n"
	}
	return text
}

// Show writes everything about a task. settings are the flags that set it up, and take is the
// command that takes its result.
func (v *View) Show(w io.Writer, r *queue.Record, settings []string, take string) error {
	var s strings.Builder
	typed := make([]string, len(settings))
	for i, word := range settings {
		typed[i] = wording.Shell(word)
	}
	field := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&s, "%-10s %s\n", name, term.Line(value))
		}
	}
	fmt.Fprintf(&s, "%s  %s\n", r.Task.ID, r.State)
	field("why", r.Why)
	if waits := v.Tasks.Waits(r, v.Now, v.Holds); waits != r.Why {
		field("waits", waits)
	}
	field("repository", r.Task.Repository.Root)
	field("directory", r.Task.Dir)
	field("target", r.Task.Target)
	field("branch", r.Task.Branch())
	field("after", strings.Join(r.Task.After, ", "))
	field("setup", r.Task.Setup)
	field("settings", strings.Join(typed, " "))
	for _, id := range r.Sessions() {
		field("session", id+": codeloops sessions show "+id)
	}
	for _, text := range r.Warnings {
		field("warning", text)
	}
	if r.Progress.Dollars > 0 {
		field("cost", dollars(r.Progress.Dollars))
	}
	field("request", r.Request)
	field("merged", r.Merge.Commit)
	field("take it", take)
	s.WriteString("\n" + strings.TrimRight(term.Clean(r.Task.Prompt), "\n") + "\n\n")
	for _, m := range r.Course {
		what := string(m.State)
		if m.State == queue.Running {
			what = fmt.Sprintf("running, attempt %d by %s", m.Attempt, term.Line(m.Worker))
		}
		if m.Why != "" {
			what += ": " + term.Line(m.Why)
		}
		fmt.Fprintf(&s, "%s  %s\n", m.At.In(v.Now.Location()).Format(time.DateTime), what)
	}
	_, err := io.WriteString(w, s.String())
	return err
}

// table lists tasks for people, fitted to the terminal's width.
func (v *View) table(w io.Writer, s *term.Streams) error {
	for _, line := range v.rows(v.listed(), s.OutRenderer(), s.ASCII, nil).Lines(s.OutWidth()) {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

const (
	columnFirst = iota // the ID; on a board the title
	columnState
	columnTitle = 6
)

// rows has a row for each of the tasks. On a board mark is what stands before its title; nil: it is for a list.
func (v *View) rows(tasks []*queue.Record, style *lipgloss.Renderer, ascii bool, mark func(*queue.Record) string) *term.Table {
	const widestAgent, widestDoing, widestTitle = 16, 44, 40
	rows, cut := [][]string{{"ID", "STATE", "AGENT", "DOING", "SINCE", "COST", "TASK"}}, []int{3, 4, columnTitle}
	if mark != nil {
		rows[0][columnFirst], rows[0][columnTitle] = "  TASK", ""
		cut = append(cut, columnFirst)
	}
	for _, r := range tasks {
		first, title, state := r.Task.ID, term.Line(r.Task.Title()), string(r.State)
		if mark != nil {
			first, title = mark(r)+" "+strings.Repeat("  ", depth(v.Tasks, r, 4))+term.Fit(title, widestTitle), ""
		}
		if len(r.Warnings) > 0 { // queue show has them
			state += " !"
		}
		agent, _, _ := strings.Cut(strings.Join(r.Agents(), " "), " ")
		rows = append(rows, []string{
			first, state, term.Fit(term.Line(agent), widestAgent), term.Fit(v.doing(r), widestDoing), since(r, v.Now),
			dollars(r.Progress.Dollars), title,
		})
	}
	return &term.Table{
		Rows: rows, Least: 14, Sparse: true, ASCII: ascii, Right: []int{5}, Drop: []int{2, 5}, Cut: cut,
		Style: func(row, column int, cell string) string {
			switch {
			case row == 0:
				return style.NewStyle().Faint(true).Render(cell)
			case column == columnState:
				return inColour(style, tasks[row-1].State, cell)
			}
			return cell
		},
	}
}

// doing says what a task is doing, or why it does nothing.
func (v *View) doing(r *queue.Record) string {
	switch {
	case r.AwaitsMerge():
		return cmp.Or(term.Line(r.Why), "waits for its merge")
	case r.State == queue.Waiting:
		return cmp.Or(v.Tasks.Waits(r, v.Now, v.Holds), term.Line(r.Why))
	case r.State != queue.Running:
		return term.Line(r.Why)
	}
	doing := phase(r)
	if r.Progress.Iteration > 0 {
		doing = fmt.Sprintf("iteration %d %s", r.Progress.Iteration, doing)
	}
	if r.Attempt > 1 {
		doing += fmt.Sprintf(" (attempt %d)", r.Attempt)
	}
	return strings.TrimSpace(doing)
}
