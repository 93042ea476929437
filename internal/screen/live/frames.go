package live

import (
	"os"
	"sync"
	"time"
)

// frame is the time between two pictures, at least.
const frame = 200 * time.Millisecond

// frames say when something is drawn.
type frames struct {
	stop    chan struct{}
	changed chan struct{} // another picture is due
	over    sync.WaitGroup
}

func newFrames() frames {
	return frames{stop: make(chan struct{}), changed: make(chan struct{}, 1)}
}

// run draws the next picture when something has changed, and every second, for the clocks: tick is called
// before that. draw reports whether it has to be done once more.
func (f *frames) run(resized <-chan os.Signal, tick func(), draw func() (again bool)) {
	second := time.NewTicker(time.Second)
	defer second.Stop()
	var rest <-chan time.Time // after a picture
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

// change says that another picture is due.
func (f *frames) change() {
	select {
	case f.changed <- struct{}{}:
	default: // it is
	}
}

// end waits until nothing more is drawn.
func (f *frames) end() {
	close(f.stop)
	f.over.Wait()
}
