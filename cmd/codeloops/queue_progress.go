package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"

	"codeloops/internal/queue"
	"codeloops/internal/screen/live"
	"codeloops/internal/screen/term"
)

// A taskScreen shows on a terminal how tasks are worked on: a line for each that is under way, drawn anew as
// it changes, and above them lines that stay, of what is over.
type taskScreen struct {
	app   *app
	now   func() time.Time // the hub's
	of    func(queue.Repository) bool
	holds func() *queue.Holds
	style *lipgloss.Renderer
	lines *live.Lines

	mu   sync.Mutex
	all  queue.Backlog
	said map[string]string // of tasks, the last line that stays
}

// drawn begins to show the tasks on standard error, which belongs to it until shown is called.
func (b *backlog) drawn(ctx context.Context, of func(queue.Repository) bool, holds func() *queue.Holds) (watch func(queue.Record), shown func(), err error) {
	a := b.app
	p := &taskScreen{app: a, now: b.on.Now, of: of, holds: holds, style: a.ErrRenderer(), all: queue.Backlog{}, said: map[string]string{}}
	all, err := b.on.All(ctx)
	if err != nil {
		return nil, nil, err
	}
	for id, r := range all {
		if of(r.Task.Repository) {
			p.all[id], p.said[id] = r, stays(r)
		}
	}
	own := &term.Streams{In: a.In, Out: a.Out, Err: a.Err, OutTTY: a.OutTTY, ErrTTY: a.ErrTTY, Columns: a.Columns}
	resized := make(chan os.Signal, 1)
	term.NotifyResize(resized)
	p.lines = live.NewLines(live.LinesOptions{
		Out: own.Err, Size: own.Size, Resized: resized, Now: a.Now, Reflows: a.Reflows, Picture: p.picture,
	})
	a.Err = p.lines
	return p.watch, func() {
		_ = p.lines.Close() // nobody is left to be told
		a.Err = own.Err
		signal.Stop(resized)
	}, nil
}

// watch takes down what has become of a task.
func (p *taskScreen) watch(r queue.Record) {
	if !p.of(r.Task.Repository) {
		return
	}
	p.mu.Lock()
	p.all[r.Task.ID] = &r
	line := stays(&r)
	told := line == "" || p.said[r.Task.ID] == line
	p.said[r.Task.ID] = line
	p.mu.Unlock()
	if told {
		p.lines.Change()
		return
	}
	fmt.Fprintf(p.lines, "%s  %s  %s\n", p.style.NewStyle().Faint(true).Render(p.app.Now().Format(time.TimeOnly)), r.Task.ID, inColour(p.style, r.State, line)) //nolint:errcheck // it never fails
}

// stays is what is said once of a task, in a line that stays; "" where it is under way.
func stays(r *queue.Record) string {
	if r.State == queue.Running || r.State == queue.Offered || r.State == queue.Finished && !r.Task.Unmerged || r.State == queue.Waiting && r.Why == "" {
		return ""
	}
	return stateLine(r)
}

// inColour is a text in the colour of a state.
func inColour(style *lipgloss.Renderer, s queue.State, text string) string {
	colour := map[queue.State]string{
		queue.Merged: "2", queue.Failed: "1", queue.Dead: "1", queue.NeedsHuman: "1", queue.Running: "4", queue.Finished: "4",
	}[s]
	if colour == "" {
		colour = "3"
	}
	return style.NewStyle().Foreground(lipgloss.Color(colour)).Render(text)
}

// picture is a line for each task that is under way, and one for all others.
func (p *taskScreen) picture(width, height, beat int) (lines []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now, holds := p.now(), p.holds()
	var busy []*queue.Record
	count := map[queue.State]int{}
	wide, held := 0, ""
	for _, r := range p.all.Sorted() {
		switch {
		case r.State.Busy() && (r.State != queue.Finished || !r.Task.Unmerged):
			busy = append(busy, r)
			wide = max(wide, ansi.StringWidth(r.Task.ID))
			continue
		case r.State == queue.Waiting && held == "":
			held = holds.Held(r, now)
		}
		count[r.State]++
	}
	room := max(1, min(height-3, 16))
	for i, r := range busy {
		if i == room-1 && len(busy) > room {
			lines = append(lines, fmt.Sprintf("  … %d more", len(busy)-i))
			break
		}
		lines = append(lines, fmt.Sprintf("%s %-*s  %s", p.spinner(beat), wide, r.Task.ID, p.doing(r, now)))
	}
	lines = append(lines, p.style.NewStyle().Faint(true).Render(p.foot(count, held, holds)))
	for i, line := range lines {
		if p.app.ASCII {
			line = term.ASCII(line)
		}
		lines[i] = term.Fit(line, width-1)
	}
	return lines
}

func (p *taskScreen) spinner(beat int) string {
	signs := []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}
	if p.app.ASCII {
		signs = []string{"|", "/", "-", `\`}
	}
	return signs[beat%len(signs)]
}

// doing says what becomes of a task at the moment.
func (p *taskScreen) doing(r *queue.Record, now time.Time) string {
	var parts []string
	switch {
	case r.State == queue.Offered:
		parts = append(parts, "offered")
	case r.State == queue.Finished:
		parts = append(parts, "waits for its merge")
	case r.Progress.Iteration > 0:
		parts = append(parts, fmt.Sprintf("iteration %d", r.Progress.Iteration))
		if phase := phaseOf(r); phase != "" {
			parts = append(parts, phase)
		}
	default:
		parts = append(parts, "begins")
	}
	parts = append(parts, since(r, now))
	if r.Attempt > 1 {
		parts = append(parts, fmt.Sprintf("attempt %d", r.Attempt))
	}
	if r.Progress.Dollars > 0 {
		parts = append(parts, dollars(r.Progress.Dollars))
	}
	return inColour(p.style, r.State, parts[0]) + strings.Join(append([]string{""}, parts[1:]...), " · ")
}

// foot counts the other tasks, and says what is spent.
func (p *taskScreen) foot(count map[queue.State]int, held string, holds *queue.Holds) string {
	var parts []string
	for _, s := range queue.States() {
		if n := count[s]; n > 0 {
			said := fmt.Sprintf("%d %s", n, s)
			if s == queue.Waiting && held != "" {
				said += " (" + held + ")"
			}
			parts = append(parts, said)
		}
	}
	var budgets []queue.Budget
	for _, b := range holds.Budgets {
		if b.Any() && p.of(b.Repository) {
			budgets = append(budgets, b)
		}
	}
	if len(budgets) == 1 {
		parts = append(parts, "budget: "+budgets[0].String())
	}
	return "  " + strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ", ")
}
