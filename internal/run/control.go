package run

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// ErrStopped is the cause with which [Control.Stop] ends a run.
var ErrStopped = fmt.Errorf("the run was stopped: %w", context.Canceled)

// A Control reaches a run from outside. It is safe for concurrent use; what is asked of a
// run that has not begun counts when it does.
type Control struct {
	waiting func(until time.Time) (over func())
	hurry   chan struct{}

	mu      sync.Mutex
	stop    context.CancelCauseFunc // nil: the run has not begun, or is over
	kill    func()
	stopped bool
}

func newControl(waiting func(time.Time) func()) *Control {
	return &Control{waiting: waiting, hurry: make(chan struct{}, 1)}
}

// Stop ends the run as cancelling its context does: agents are asked to stop, and the end
// is logged.
func (c *Control) Stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = true
	if c.stop != nil {
		c.stop(ErrStopped)
	}
}

// Kill ends the agents that are at work at once, and stops the run.
func (c *Control) Kill() {
	c.Stop()
	c.mu.Lock()
	kill := c.kill
	c.mu.Unlock()
	if kill != nil {
		kill()
	}
}

// Hurry ends a wait for the end of a limit. One that comes when nobody waits is
// forgotten.
func (c *Control) Hurry() {
	select {
	case c.hurry <- struct{}{}:
	default: // there is one
	}
}

// Ready forgets what came when nobody waited.
func (c *Control) Ready() {
	select {
	case <-c.hurry:
	default:
	}
}

// Enter begins a wait. Something can be received when it is to end early; leave is
// called when it is over.
func (c *Control) Enter(until time.Time) (hurry <-chan struct{}, leave func()) {
	if c.waiting == nil {
		return c.hurry, func() {}
	}
	return c.hurry, c.waiting(until)
}

// begin connects the control with a run that begins; the returned function is called at
// its end.
func (c *Control) begin(ctx context.Context, kill func()) (_ context.Context, end func()) {
	ctx, stop := context.WithCancelCause(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stop, c.kill = stop, kill
	if c.stopped {
		stop(ErrStopped)
	}
	return ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.stop, c.kill = nil, nil
		stop(nil)
	}
}
