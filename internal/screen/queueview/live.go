package queueview

import (
	"fmt"
	"time"

	"codeloops/internal/queue"
	"codeloops/internal/screen/live"
	"codeloops/internal/screen/term"
)

// A Progress shows tasks on standard error.
type Progress struct {
	Streams *term.Streams
	Now     func() time.Time
	Of      func(queue.Repository) bool // whether to show tasks of this repository
	Home    string                      // whose agents may be at a limit
	Keys    Keys
}

// A drawing shows tasks on a terminal: a row for each one, redrawn as it changes, and above them permanent lines about
// what has happened. Elsewhere each change is a permanent line.
type drawing struct {
	*Progress

	now      func() time.Time // the hub's clock
	budgets  func() queue.Budgets
	terminal live.Terminal
	lines    *live.Lines

	board
}

// Draw begins to show tasks on standard error, which it owns until shown is called. now is the
// clock of the tasks' records. watch is told of each record that changes, and gone of each that is removed.
func (p *Progress) Draw(all queue.Backlog, now func() time.Time, budgets func() queue.Budgets) (watch func(queue.Record), gone func(id string), shown func()) {
	s := p.Streams
	terminal, own, release := live.Over(s)
	d := &drawing{Progress: p, now: now, budgets: budgets, terminal: terminal}
	d.all, d.said = queue.Backlog{}, map[string]string{}
	for id, r := range all {
		if p.Of(r.Task.Repository) && !terminal.Plain {
			d.all[id], d.said[id] = r, permanentLine(r)
		}
	}
	d.lines = live.NewLines(terminal, p.Now, d.picture)
	own.InTTY = s.InTTY
	s.Err = d.lines
	unread := d.read(own)
	return d.watch, d.gone, func() {
		unread()
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

func (d *drawing) gone(id string) {
	d.mu.Lock()
	delete(d.all, id)
	d.mu.Unlock()
	d.lines.Change()
}

// picture is the board.
func (d *drawing) picture(width, height, _ int) []string {
	if d.terminal.Plain {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.now()
	v := &View{Tasks: d.all, Holds: d.all.Holds(d.budgets(), d.Home, now), Now: now}
	for _, b := range v.Holds.Budgets {
		if b.Any() && d.Of(b.Repository) {
			v.Budgets = append(v.Budgets, b)
		}
	}
	return d.draw(v, d.terminal, width, height)
}
