package live

import (
	"os"
	"sync"
	"time"
)

// frame is the least time between two redraws.
const frame = 200 * time.Millisecond

// frames schedules redraws.
type frames struct {
	stop    chan struct{}
	changed chan struct{} // a redraw is due
	over    sync.WaitGroup
}

func newFrames() frames {
	return frames{stop: make(chan struct{}), changed: make(chan struct{}, 1)}
}

// run redraws when something has changed, and every second, after tick, so that clocks move on.
// draw reports whether to try again.
func (f *frames) run(resized <-chan os.Signal, tick func(), draw func() (again bool)) {
	second := time.NewTicker(time.Second)
	defer second.Stop()
	var rest <-chan time.Time // no redraw before it fires
	for due := false; ; {
		select {
		case <-f.stop:
			return
		case <-second.C:
			tick()
			due = true
		case <-f.changed:
			due = true
		case <-resized:
			due = true
		case <-rest:
			rest = nil
		}
		if due && rest == nil {
			due = draw()
			rest = time.After(frame)
		}
	}
}

// change requests a redraw.
func (f *frames) change() {
	select {
	case f.changed <- struct{}{}:
	default: // one is requested already
	}
}

// end waits for the last redraw.
func (f *frames) end() {
	close(f.stop)
	f.over.Wait()
}
