package live

import (
	"io"
	"os"
	"sync"
	"time"
)

// LinesOptions say where lines are shown, and which.
type LinesOptions struct {
	Out     io.Writer
	Size    func() (w, h int)
	Resized <-chan os.Signal // nil: nobody tells
	Now     func() time.Time
	Reflows bool // the terminal wraps its lines anew when it gets narrower
	// Picture is what is shown now: lines that are narrower than the terminal. beat grows each second.
	Picture func(width, height, beat int) []string
}

// Lines are the [io.Writer] of a terminal with a few lines at its end that are drawn anew as they
// change. They are safe for concurrent use, and nobody waits for a terminal that hangs.
// [Lines.Close] has to be called.
type Lines struct {
	LinesOptions
	stop    chan struct{}
	changed chan struct{} // another picture is due
	over    sync.WaitGroup

	mu sync.Mutex // guards what follows
	canvas
	beat int
}

// NewLines begins to show them.
func NewLines(o LinesOptions) *Lines {
	l := &Lines{LinesOptions: o, stop: make(chan struct{}), changed: make(chan struct{}, 1)}
	l.canvas = canvas{pump: &pump{out: o.Out}, size: o.Size, now: o.Now, reflows: o.Reflows, wrote: o.Now()}
	l.over.Go(l.run)
	return l
}

// Fd returns the terminal's descriptor, 0 where it is none.
func (l *Lines) Fd() uintptr {
	if f, ok := l.Out.(interface{ Fd() uintptr }); ok {
		return f.Fd()
	}
	return 0
}

// run draws the next picture when something has changed, and every second, for the clocks.
func (l *Lines) run() {
	second := time.NewTicker(time.Second)
	defer second.Stop()
	var rest <-chan time.Time // after a picture
	for due := true; ; {
		if due && rest == nil {
			due = l.redraw()
			rest = time.After(frame)
		}
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
	}
}

// redraw draws the next picture, and reports whether that has to be done once more.
func (l *Lines) redraw() (again bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	waiting, _, _, _ := l.pump.look()
	width, height := l.Size()
	lines := l.Picture(width, height, l.beat)
	l.draw(lines)
	return waiting > 0
}

// Change says that another picture is due.
func (l *Lines) Change() {
	select {
	case l.changed <- struct{}{}:
	default: // it is
	}
}

// Write shows lines that stay.
func (l *Lines) Write(text []byte) (int, error) {
	defer l.Change()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.write(text)
	return len(text), nil
}

// Close takes away what is drawn, and leaves the terminal to others.
func (l *Lines) Close() error {
	close(l.stop)
	l.over.Wait()
	l.mu.Lock()
	l.draw(nil)
	l.mu.Unlock()
	return l.pump.drain()
}
