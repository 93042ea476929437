package queueview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"codeloops/internal/queue"
	"codeloops/internal/screen/live"
	"codeloops/internal/screen/term"
	"codeloops/internal/wording/hint"
)

// A Key is what the user asks for about a task.
type Key string

// The keys of a board.
const (
	Open   Key = "\r" // its live view, or all about it
	Diff   Key = "d"
	Stop   Key = "s" // after the iteration
	Say    Key = "f"
	Retry  Key = "r"
	Cancel Key = "x"
	Accept Key = "a"
	Leave  Key = "q"
)

// Keys do what keys ask for. A nil Do reads none.
type Keys struct {
	// Do does it. For Open and Diff it owns the terminal, which is on own, until it returns. What it says is shown.
	Do func(key Key, r queue.Record, words string, own *term.Streams) (said string, err error)
	// Leave is called for the key that leaves the board; nil: there is none.
	Leave func()
}

// A board has a row for each task, one of which is chosen.
type board struct {
	mu     sync.Mutex
	all    queue.Backlog
	said   map[string]string // the last permanent line about each task
	rows   []string          // IDs, as they were drawn last
	chosen string            // an ID
	keys   bool              // keys are read
	typed  *string           // what is being typed to say; nil: nothing is
	sure   string            // the task that the next x cancels
}

// rank orders tasks: those that need the user come first, then those under way, those that wait, and those that are done.
func rank(r *queue.Record) int {
	switch {
	case r.Done() || r.State == queue.Cancelled:
		return 3
	case r.State.Over():
		return 0
	case r.State.Busy():
		return 1
	}
	return 2
}

// depth is how many of the tasks that are not done a task waits for, one after the other.
func depth(all queue.Backlog, r *queue.Record, most int) (n int) {
	for _, id := range r.Task.After {
		if before := all[id]; before != nil && !before.Done() && n < most {
			n = max(n, 1+depth(all, before, most-1))
		}
	}
	return n
}

// draw returns the lines of the board.
func (b *board) draw(v *View, t live.Terminal, width, height int) []string {
	sorted := v.Tasks.Sorted()
	slices.SortStableFunc(sorted, func(x, y *queue.Record) int { return cmp.Compare(rank(x), rank(y)) })
	b.rows = make([]string, len(sorted))
	for i, r := range sorted {
		b.rows[i] = r.Task.ID
	}
	if len(b.rows) > 0 && !slices.Contains(b.rows, b.chosen) {
		b.chosen = b.rows[0]
	}
	room := max(1, height-5)
	from := max(0, min(slices.Index(b.rows, b.chosen)-room/2, len(sorted)-room))
	shown := sorted[from:min(len(sorted), from+room)]
	lines := v.rows(shown, t.Style, t.ASCII, func(r *queue.Record) string {
		if b.keys && r.Task.ID == b.chosen {
			return ">"
		}
		return " "
	}).Lines(width)
	if left := len(sorted) - len(shown); left > 0 {
		lines = append(lines, fmt.Sprintf("  … %d more", left))
	}
	faint := t.Style.NewStyle().Faint(true)
	lines = append(lines, faint.Render("  "+strings.Join(v.totals(), ", ")))
	switch {
	case b.typed != nil:
		lines = append(lines, "  say, and Enter: "+term.Line(*b.typed))
	case b.sure != "":
		lines = append(lines, "  x again cancels "+b.sure)
	case b.keys:
		lines = append(lines, faint.Render("  ↑↓ Enter opens it, d its diff; s stop, f say, r retry, x cancel, a accept"))
	}
	return lines
}

// totals counts the tasks, and says what was spent.
func (v *View) totals() []string {
	number, held, cost := map[queue.State]int{}, "", 0.0
	for _, r := range v.Tasks.Sorted() {
		number[r.State]++
		if cost += r.Progress.Dollars; r.State == queue.Waiting && held == "" {
			held = v.Holds.Held(r)
		}
	}
	parts := counts(number, held)
	if cost > 0 {
		parts = append(parts, dollars(cost))
	}
	if len(v.Budgets) == 1 {
		parts = append(parts, "budget: "+v.Budgets[0].String())
	}
	return parts
}

// read reads keys until unread is called.
func (d *drawing) read(own *term.Streams) (unread func()) {
	if d.Keys.Do == nil || d.terminal.Plain {
		return func() {}
	}
	over := make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() {
		for {
			keys, ok := d.Streams.ReadKeys(term.Listener{Stops: d.lines.Freeze})
			d.mu.Lock()
			d.keys = ok
			d.mu.Unlock()
			if !ok {
				return
			}
			d.lines.Change()
			key, r := d.pressed(keys, over, own)
			keys.Close()
			if r == nil {
				return
			}
			show, hold := d.lines.Hide(), d.Streams.Jobs.Hold() // whoever has the terminal stops the process
			d.do(key, *r, "", own)
			hold.Release()
			show()
		}
	})
	return func() {
		close(over)
		done.Wait()
	}
}

// pressed handles keys until one needs the terminal. The task is nil where no more keys come.
func (d *drawing) pressed(keys *term.Keys, over <-chan struct{}, own *term.Streams) (Key, *queue.Record) {
	for {
		select {
		case <-over:
			return "", nil
		case pressed, more := <-keys.Pressed():
			if !more {
				return "", nil
			}
			key, r, words := d.press(pressed)
			switch {
			case key == Leave && d.Keys.Leave != nil:
				d.Keys.Leave()
			case r == nil || key == Leave:
			case key == Open || key == Diff:
				return key, r
			default:
				d.do(key, *r, words, own)
			}
			d.lines.Change()
		}
	}
}

// do does what a key asks for, and shows what it says.
func (d *drawing) do(key Key, r queue.Record, words string, own *term.Streams) {
	said, err := d.Keys.Do(key, r, words, own)
	if err != nil {
		said = hint.Sentence(err)
	}
	if said != "" {
		fmt.Fprintln(d.lines, term.Line(said)) //nolint:errcheck // it never fails
	}
}

// press changes the board for a key, and returns what is to be done about the chosen task; nil is nothing.
func (b *board) press(pressed string) (key Key, r *queue.Record, words string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r = b.all[b.chosen]
	if b.typed != nil {
		return b.typing(pressed, r)
	}
	sure := b.sure
	b.sure = ""
	switch key = Key(pressed); pressed {
	case "\x1b[A", "\x1bOA", "k":
		b.move(-1)
	case "\x1b[B", "\x1bOB", "j":
		b.move(+1)
	case "\n":
		return Open, r, ""
	case string(Say):
		b.typed = new(string)
	case string(Cancel):
		if sure == b.chosen {
			return key, r, ""
		}
		b.sure = b.chosen
	case string(Open), string(Diff), string(Stop), string(Retry), string(Accept), string(Leave):
		return key, r, ""
	}
	return "", nil, ""
}

// typing handles a key while words are typed.
func (b *board) typing(pressed string, r *queue.Record) (Key, *queue.Record, string) {
	switch pressed {
	case "\x1b":
		b.typed = nil
	case "\r", "\n":
		words := strings.TrimSpace(*b.typed)
		if b.typed = nil; words != "" {
			return Say, r, words
		}
	default:
		*b.typed = term.Edit(*b.typed, pressed)
	}
	return "", nil, ""
}

// move chooses another task.
func (b *board) move(by int) {
	if at := slices.Index(b.rows, b.chosen) + by; at >= 0 && at < len(b.rows) {
		b.chosen = b.rows[at]
	}
}
