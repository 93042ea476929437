package run

import (
	"context"
	"fmt"
	"sync"
	"time"

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
	differs func(context.Context) (loop.Change, error) // nil likewise
	shown   bool                                       // somebody here watches
	seen    time.Time                                  // when somebody elsewhere was last known to

	looking sync.Mutex // one look at a time is dear enough
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

// Untold reports whether there are words that the actor could not be told.
func (c *Control) Untold() bool { return c.steering.Untold() }

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
		c.stop, c.kill, c.differs = nil, nil, nil
		stop(nil)
	}
}

// Diff looks at what differs now from the beginning of the session, also in the middle of a turn: in
// the work tree of the turn that began last, which may be a fork's, or else in the user's own.
func (c *Control) Diff(ctx context.Context) (patch string, err error) {
	c.looking.Lock()
	defer c.looking.Unlock()
	c.mu.Lock()
	differs := c.differs
	c.mu.Unlock()
	if differs == nil {
		return "", errNoTree
	}
	change, err := differs(ctx)
	return c.secrets.String(change.Patch()), err
}

// shows has [Control.Diff] look, for as long as a run goes on.
func (c *Control) shows(run context.Context, differs func(context.Context) (loop.Change, error)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.differs = func(ctx context.Context) (loop.Change, error) {
		ctx, cancel := context.WithTimeout(ctx, mostLooked)
		defer cancel()
		defer context.AfterFunc(run, cancel)()
		return differs(ctx)
	}
}

// Show says that people are shown on a terminal what changes, while it does.
func (c *Control) Show() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shown = true
}

// watched says that somebody elsewhere shows people what changes.
func (c *Control) watched(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen = now
}

// isWatched reports whether anybody does, or did lately.
func (c *Control) isWatched(now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.shown || now.Sub(c.seen) < attention
}
