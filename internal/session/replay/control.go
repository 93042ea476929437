package replay

import (
	"context"
	"errors"
	"fmt"
	"time"

	"codeloops/internal/loop"
)

// ErrQuit says that whoever watches has seen enough.
var ErrQuit = errors.New("the replay was left")

// Limits of the speed, as a multiple of the run's own.
const (
	slowest = 1.0 / 16
	fastest = 1024
)

// A Control is how a person plays a log: it pauses, steps, goes faster and
// slower. Its method Press may be called from another goroutine, and from one at
// a time.
type Control struct {
	note func(string) // shows a line for whoever is at the keys; "" takes it away

	keys   chan string
	rate   float64 // 0: without a pause
	paused bool
	leap   bool // to the next iteration
}

// NewControl returns a control that begins at a speed, 0 being without a pause.
// Note is called with what there is to know while the replay stands still, and
// with "" when it goes on.
func NewControl(speed float64, paused bool, note func(string)) *Control {
	return &Control{note: note, keys: make(chan string, 16), rate: speed, paused: paused}
}

// Press takes a key, as what it sends. One that comes faster than the replay
// can go is lost.
func (c *Control) Press(key string) {
	select {
	case c.keys <- key:
	default:
	}
}

// wait returns when the next event is to be shown, which came so long after the
// one before it. The error is [ErrQuit], or the cause of ctx.
func (c *Control) wait(ctx context.Context, pause time.Duration, next loop.Event) error {
	if c.leap {
		if _, begins := next.(loop.IterationStarted); !begins {
			return nil
		}
		c.leap = false
	}
	for left := pause; ; { // in the run's own time
		var due <-chan time.Time
		slice := min(time.Duration(float64(left)/max(c.rate, slowest)), longestWait)
		switch {
		case c.paused:
			c.note(fmt.Sprintf("paused, %s [space n i + - q]", speedText(c.rate)))
		case c.rate == 0 || left <= 0:
			slice = 0
			fallthrough
		default:
			due = time.After(slice)
		}
		select {
		case <-due:
			if c.rate == 0 || left <= 0 {
				return nil
			}
			left -= time.Duration(float64(slice) * c.rate)
		case <-ctx.Done():
			c.note("")
			return context.Cause(ctx)
		case key := <-c.keys:
			c.note("")
			if goes, err := c.press(key); goes || err != nil {
				return err
			}
		}
	}
}

// longestWait is how long, at most, a wait at an old speed lasts.
const longestWait = 100 * time.Millisecond

// press does what a key is for; goes says that the next event is to be shown.
func (c *Control) press(key string) (goes bool, err error) {
	switch key {
	case " ":
		c.paused = !c.paused
	case "n", "\x1b[C", "\x1bOC", "\r", "\n":
		return true, nil
	case "i", "N", "\x1b[B", "\x1bOB":
		c.leap = true
		return true, nil
	case "+", "=":
		if c.rate = min(2*c.rate, fastest); c.rate == fastest {
			c.rate = 0
		}
	case "-", "_":
		if c.rate /= 2; c.rate == 0 {
			c.rate = fastest / 2
		}
		c.rate = max(c.rate, slowest)
	case "q", "Q":
		return false, ErrQuit
	}
	return false, nil
}

func speedText(rate float64) string {
	if rate == 0 {
		return "full speed"
	}
	return fmt.Sprintf("speed %g", rate)
}
