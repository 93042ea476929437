package live

import (
	"sync"
	"time"

	"codeloops/internal/screen/term"
)

// LinesOptions say where lines are shown, and which.
type LinesOptions struct {
	Terminal
	Now func() time.Time
	// Picture is what is shown now. beat grows each second.
	Picture func(width, height, beat int) []string
}

// Lines are the [io.Writer] of a terminal with a few lines at its end that are drawn anew as they
// change. They are safe for concurrent use, and nobody waits for a terminal that hangs.
// [Lines.Close] has to be called.
type Lines struct {
	LinesOptions
	frames

	mu sync.Mutex // guards what follows
	canvas
	beat int
}

// NewLines begins to show them.
func NewLines(o LinesOptions) *Lines {
	l := &Lines{LinesOptions: o, frames: newFrames(), canvas: newCanvas(o.Terminal, o.Now)}
	l.change()
	l.over.Go(func() { l.run(o.Resized, l.tick, l.redraw) })
	return l
}

// Fd returns the terminal's descriptor, 0 where it is none.
func (l *Lines) Fd() uintptr { return term.Fd(l.Out) }

func (l *Lines) tick() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.beat++
}

// redraw draws the next picture, and reports whether that has to be done once more.
func (l *Lines) redraw() (again bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	width, height := l.Size()
	return l.draw(fitted(l.Picture(width, height, l.beat), width, l.ASCII))
}

// Change says that another picture is due.
func (l *Lines) Change() { l.change() }

// Write shows lines that stay.
func (l *Lines) Write(text []byte) (int, error) {
	defer l.change()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.write(text)
	return len(text), nil
}

// Close takes away what is drawn, and leaves the terminal to others.
func (l *Lines) Close() error {
	l.end()
	l.mu.Lock()
	l.draw(nil)
	l.mu.Unlock()
	return l.pump.drain()
}
