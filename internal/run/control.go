package run

import (
	"context"
	"fmt"
	"sync"

	"codeloops/internal/loop"
	"codeloops/internal/redact"
)

// ErrStopped is the cause with which [Control.Stop] ends a run.
var ErrStopped = fmt.Errorf("the run was stopped: %w", context.Canceled)

// A Control reaches a run from outside. It is safe for concurrent use; what is asked of a
// run that has not begun counts when it does.
type Control struct {
	hurry    chan struct{}
	steering loop.Steering
	secrets  *redact.Redactor // none of them are told to the actor

	mu      sync.Mutex
	stop    context.CancelCauseFunc // nil: the run has not begun, or is over
	kill    func()
	stopped bool
}

func newControl(secrets *redact.Redactor) *Control {
	return &Control{hurry: make(chan struct{}, 1), secrets: secrets}
}

// Steer asks something of the run while it goes on; see [loop.Steering.Steer].
func (c *Control) Steer(kind loop.SteerKind, text string) error {
	return c.steering.Steer(kind, c.secrets.String(text))
}

// Asked says what was asked for and has not taken effect yet.
func (c *Control) Asked() (stop, pause bool, words int) { return c.steering.Asked() }

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

// Early returns a channel from which something can be received when a wait is to end early.
func (c *Control) Early() <-chan struct{} { return c.hurry }

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
