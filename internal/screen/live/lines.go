package live

import (
	"sync"
	"time"
)

// LinesOptions say where lines are shown, and which.
type LinesOptions struct {
	Terminal
	Now func() time.Time
	// Picture returns the lines to draw. beat grows each second.
	Picture func(width, height, beat int) []string
}

// Lines is an [io.Writer] for a terminal that keeps a few redrawn lines at its end. It is safe for
// concurrent use, and a hanging terminal blocks nobody. [Lines.Close] must be called.
type Lines struct {
	LinesOptions
	frames

	mu sync.Mutex // guards what follows
	canvas
	beat int
}

// NewLines begins to draw.
func NewLines(o LinesOptions) *Lines {
	l := &Lines{LinesOptions: o, frames: newFrames(), canvas: newCanvas(o.Terminal, o.Now)}
	l.change()
	l.over.Go(func() { l.run(o.Resized, l.tick, l.redraw) })
	return l
}

func (l *Lines) tick() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.beat++
}

func (l *Lines) redraw() (again bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	width, height := l.Size()
	return l.draw(fitted(l.Picture(width, height, l.beat), width, l.ASCII))
}

// Change requests a redraw.
func (l *Lines) Change() { l.change() }

// Write shows permanent lines.
func (l *Lines) Write(text []byte) (int, error) {
	defer l.change()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.write(text)
	return len(text), nil
}

// Close removes the redrawn lines and stops drawing.
func (l *Lines) Close() error {
	l.end()
	l.mu.Lock()
	l.draw(nil)
	l.mu.Unlock()
	return l.pump.drain()
}
