package replay

import (
	"context"
	"errors"
	"fmt"
	"time"

	"codeloops/internal/loop"
)

// ErrQuit says that the user has left the replay.
var ErrQuit = errors.New("the replay was left")

// Limits of the speed, as multiples of the run's own.
const (
	slowest = 1.0 / 16
	fastest = 1024
)

// A Control lets a person control a replay: pause, step, and change the speed. Press may be
// called from another goroutine, but not concurrently with itself.
type Control struct {
	note func(string) // shows a line to the user; "" removes it

	keys   chan string
	rate   float64 // 0: no pauses
	paused bool
	leap   bool // skip to the next iteration
}

// NewControl returns a control that begins at a speed: 1 is as it was, 2 twice as fast, 0 without
// pauses. It calls note with a line for the user while the replay waits, and with "" when it
// goes on.
func NewControl(speed float64, paused bool, note func(string)) *Control {
	return &Control{note: note, keys: make(chan string, 16), rate: speed, paused: paused}
}

// Press takes a key, as the terminal sends it. Keys that come faster than the replay can
// handle them are dropped.
func (c *Control) Press(key string) {
	select {
	case c.keys <- key:
	default:
	}
}

// wait returns when the next event is due, given the time since the one before it. The error
// is [ErrQuit], or the cause of ctx.
func (c *Control) wait(ctx context.Context, pause time.Duration, next loop.Event) error {
	if c.leap {
		if _, begins := next.(loop.IterationStarted); !begins {
			return nil
		}
		c.leap = false
	}
	for left := pause; ; { // in the run's own time
		var due <-chan time.Time
		last := c.rate == 0 || float64(left) <= float64(longestWait)*c.rate
		switch {
		case c.paused:
			c.note(fmt.Sprintf("paused, %s [space n i + - q]", speedText(c.rate)))
		case c.rate == 0:
			due = time.After(0)
		case last:
			due = time.After(time.Duration(float64(left) / c.rate))
		default:
			due = time.After(longestWait)
		}
		select {
		case <-due:
			if last {
				return nil
			}
			left -= time.Duration(float64(longestWait) * c.rate)
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

// longestWait bounds how long a wait ignores a change of speed.
const longestWait = 100 * time.Millisecond

// press handles a key; goes reports whether the next event is to be shown.
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
