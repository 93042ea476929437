// Package countdown shows how long a run still waits.
package countdown

import (
	"fmt"
	"strings"
	"time"

	"codeloops/internal/screen/term"
)

// tryAgain is the key that ends a wait.
const tryAgain = "w"

// stall is how long the end of a wait is held up by a terminal that hangs.
const stall = time.Second

// A Countdown counts down on a terminal while a run waits for the end of a limit, and
// lets whoever sits there end the wait.
type Countdown struct {
	*term.Streams

	Now   func() time.Time
	Hurry func() // ends the wait
}

// Begin begins to count; over puts the terminal back.
func (c *Countdown) Begin(until time.Time) (over func()) {
	w := &wait{Countdown: c, until: until, over: make(chan struct{})}
	keys, ok := c.ReadKeys()
	if ok {
		w.keys = keys.Pressed()
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.run()
	}()
	return func() {
		close(w.over)
		select {
		case <-done:
		case <-time.After(stall):
		}
		if ok {
			keys.Close()
		}
	}
}

// A wait is what is counted once.
type wait struct {
	*Countdown

	until time.Time
	keys  <-chan string // nil: none can be read
	over  chan struct{}
}

func (w *wait) run() {
	second := time.NewTicker(time.Second)
	defer second.Stop()
	w.show()
	for {
		select {
		case <-w.over:
			w.clear()
			return
		case <-second.C:
			w.count()
		case key := <-w.keys:
			if strings.EqualFold(key, tryAgain) {
				w.Hurry()
			}
		}
	}
}

// show tells for how long, and how to end it. Where nothing may move it is told
// once.
func (w *wait) show() {
	if !w.Plain {
		w.count()
	} else if w.keys != nil {
		w.printf("  %s\n", w.hint())
	}
}

func (w *wait) count() {
	if w.Plain {
		return
	}
	line := "waiting " + clock(w.until.Sub(w.Now()))
	if hint := w.hint(); hint != "" {
		line += " · " + hint
	}
	w.printf("\r\x1b[K%s", term.Fit("  "+line, w.Width()))
}

func (w *wait) clear() {
	if !w.Plain {
		w.printf("\r\x1b[K")
	}
}

func (w *wait) hint() string {
	if w.keys == nil {
		return ""
	}
	return tryAgain + " tries again now"
}

func (w *wait) printf(format string, args ...any) {
	fmt.Fprintf(w.Err, format, args...) //nolint:errcheck // a courtesy
}

// clock writes what is left of a wait, as 1:02:03 or 4:05.
func clock(left time.Duration) string {
	seconds := int(max(0, left.Round(time.Second)) / time.Second)
	if seconds >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", seconds/3600, seconds/60%60, seconds%60)
	}
	return fmt.Sprintf("%d:%02d", seconds/60, seconds%60)
}
