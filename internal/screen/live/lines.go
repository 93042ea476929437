package live

import (
	"sync"
	"time"

	"codeloops/internal/screen/notice"
)

// frame is the least time between two redraws.
const frame = 200 * time.Millisecond

// Lines is an [io.Writer] for a terminal that keeps a few redrawn lines at its end. It is safe for
// concurrent use, and a hanging terminal blocks nobody. [Lines.Close] must be called.
type Lines struct {
	picture func(width, height, beat int) []string
	stop    chan struct{}
	changed chan struct{} // a redraw is due
	over    sync.WaitGroup

	mu sync.Mutex // guards what follows
	canvas
	beat int
}

// NewLines begins to draw the lines that picture returns; beat grows each second.
func NewLines(t Terminal, now func() time.Time, picture func(width, height, beat int) []string) *Lines {
	l := newLines(t, now, picture)
	l.begin()
	return l
}

func newLines(t Terminal, now func() time.Time, picture func(width, height, beat int) []string) *Lines {
	return &Lines{
		picture: picture, stop: make(chan struct{}), changed: make(chan struct{}, 1),
		canvas: canvas{Terminal: t, now: now, pump: &pump{out: t.Out, moved: make(chan struct{})}, wrote: now()},
	}
}

func (l *Lines) begin() {
	l.Change()
	l.over.Go(l.run)
}

// run redraws when something has changed, and every second, so that clocks move on.
func (l *Lines) run() {
	second := time.NewTicker(time.Second)
	defer second.Stop()
	var rest <-chan time.Time // no redraw before it fires
	for due := false; ; {
		select {
		case <-l.stop:
			return
		case <-second.C:
			l.mu.Lock()
			l.beat++
			l.mu.Unlock()
			due = true
		case <-l.changed:
			due = true
		case <-l.Resized:
			due = true
		case <-rest:
			rest = nil
		}
		if due && rest == nil {
			due = l.redraw()
			rest = time.After(frame)
		}
	}
}

// redraw reports whether to try again.
func (l *Lines) redraw() (again bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	width, height := l.Size()
	return l.draw(l.fitted(l.picture(width, height, l.beat), width))
}

// Change requests a redraw.
func (l *Lines) Change() {
	select {
	case l.changed <- struct{}{}:
	default: // one is requested already
	}
}

// Write shows permanent lines.
func (l *Lines) Write(text []byte) (int, error) {
	defer l.Change()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.write(text)
	return len(text), nil
}

// Close removes the redrawn lines and stops drawing.
func (l *Lines) Close() error {
	close(l.stop)
	l.over.Wait()
	l.mu.Lock()
	l.held.hidden = 0 // a pager may still be open; text that waits for it would be lost
	l.flush()
	l.draw(nil)
	if l.titled != "" {
		l.print([]byte(notice.Restore))
	}
	l.mu.Unlock()
	err := l.pump.drain()
	l.deliver()
	return err
}

// Hide removes the redrawn lines and holds back writes until show is called, as somebody else needs
// the terminal.
func (l *Lines) Hide() (show func()) { return l.away(&l.held.hidden) }

// Freeze stops redrawing until move is called, as the user is asked something. Writes go on.
func (l *Lines) Freeze() (move func()) { return l.away(&l.held.still) }

func (l *Lines) away(count *int) (back func()) {
	l.mu.Lock()
	l.draw(nil)
	*count++
	l.mu.Unlock()
	_ = l.pump.drain() // the screen reports its error
	return sync.OnceFunc(func() {
		l.mu.Lock()
		*count--
		l.flush()
		l.mu.Unlock()
		l.deliver()
		l.Change()
	})
}

// deliver writes what others have kept for after the text, if that is on the terminal.
func (l *Lines) deliver() {
	l.mu.Lock()
	var all []late
	if l.held.hidden == 0 {
		all, l.held.late = l.held.late, nil
	}
	l.mu.Unlock()
	for _, next := range all {
		_ = l.pump.drain()              // the screen reports its error
		_, _ = next.to.Write(next.text) // as those of other results
	}
}
