package queueview

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"

	"codeloops/internal/queue"
	"codeloops/internal/screen/live"
	"codeloops/internal/screen/term"
)

// A Progress reports on tasks on standard error.
type Progress struct {
	Streams *term.Streams
	Now     func() time.Time
	Of      func(queue.Repository) bool // whether to report on tasks of this repository
}

// A drawing shows on a terminal how tasks progress: a line for each one under way, redrawn as it
// changes, and above them permanent lines about finished ones. Elsewhere each change is a permanent line.
type drawing struct {
	*Progress

	now      func() time.Time // the hub's clock
	holds    func() *queue.Holds
	terminal live.Terminal
	lines    *live.Lines

	mu   sync.Mutex
	all  queue.Backlog
	said map[string]string // the last permanent line about each task
}

// Draw begins to show tasks on standard error, which it owns until shown is called. now is the
// clock of the tasks' records.
func (p *Progress) Draw(all queue.Backlog, now func() time.Time, holds func() *queue.Holds) (watch func(queue.Record), shown func()) {
	s := p.Streams
	terminal, own, release := live.Over(s)
	d := &drawing{Progress: p, now: now, holds: holds, terminal: terminal, all: queue.Backlog{}, said: map[string]string{}}
	for id, r := range all {
		if p.Of(r.Task.Repository) && !terminal.Plain {
			d.all[id], d.said[id] = r, permanentLine(r)
		}
	}
	d.lines = live.NewLines(terminal, p.Now, d.picture)
	s.Err = d.lines
	return d.watch, func() {
		_ = d.lines.Close() // there is nobody left to tell
		s.Err = own.Err
		release()
	}
}

func (d *drawing) watch(r queue.Record) {
	if !d.Of(r.Task.Repository) {
		return
	}
	d.mu.Lock()
	d.all[r.Task.ID] = &r
	text := permanentLine(&r)
	if d.terminal.Plain {
		text = statusLine(&r)
	}
	told := text == "" || d.said[r.Task.ID] == text
	if text != "" || !d.terminal.Plain && (r.Progress.Phase != "" || r.NotBefore.IsZero()) {
		d.said[r.Task.ID] = text
	}
	d.mu.Unlock()
	if told {
		d.lines.Change()
		return
	}
	fmt.Fprintf(d.lines, "%s  %s  %s\n", d.terminal.Style.NewStyle().Faint(true).Render(d.Now().Format(time.TimeOnly)), r.Task.ID, inColour(d.terminal.Style, r.State, text)) //nolint:errcheck // it never fails
}

// picture has a line for each task under way, and one for all others.
func (d *drawing) picture(_, height, beat int) (lines []string) {
	if d.terminal.Plain {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	now, holds := d.now(), d.holds()
	var busy []*queue.Record
	number := map[queue.State]int{}
	wide, held := 0, ""
	for _, r := range d.all.Sorted() {
		switch {
		case r.State.Busy() && !r.Done():
			busy = append(busy, r)
			wide = max(wide, ansi.StringWidth(r.Task.ID))
			continue
		case r.State == queue.Waiting && held == "":
			held = holds.Held(r, now)
		}
		number[r.State]++
	}
	room := max(1, min(height-3, 16))
	for i, r := range busy {
		if i == room-1 && len(busy) > room {
			lines = append(lines, fmt.Sprintf("  … %d more", len(busy)-i))
			break
		}
		lines = append(lines, fmt.Sprintf("%s %-*s  %s", live.Spinner(beat, d.Streams.ASCII), wide, r.Task.ID, d.doing(r, now)))
	}
	lines = append(lines, d.terminal.Style.NewStyle().Faint(true).Render(d.foot(number, held, holds)))
	return lines
}

func (d *drawing) doing(r *queue.Record, now time.Time) string {
	var parts []string
	switch {
	case r.State == queue.Offered:
		parts = append(parts, "offered")
	case r.State == queue.Finished:
		parts = append(parts, "waits for its merge")
	case r.Progress.Iteration > 0:
		parts = append(parts, fmt.Sprintf("iteration %d", r.Progress.Iteration))
		if in := phase(r); in != "" {
			parts = append(parts, in)
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
	return inColour(d.terminal.Style, r.State, parts[0]) + strings.Join(append([]string{""}, parts[1:]...), " · ")
}

// foot counts the other tasks and says what was spent.
func (d *drawing) foot(number map[queue.State]int, held string, holds *queue.Holds) string {
	parts := counts(number, held)
	var budgets []queue.Budget
	for _, b := range holds.Budgets {
		if b.Any() && d.Of(b.Repository) {
			budgets = append(budgets, b)
		}
	}
	if len(budgets) == 1 {
		parts = append(parts, "budget: "+budgets[0].String())
	}
	return "  " + strings.Join(parts, ", ")
}
