package run

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/redact"
)

// errStopped is the cancellation cause of [Control.Stop].
var errStopped = fmt.Errorf("the run was stopped: %w", context.Canceled)

// A Control controls a run from outside. It is safe for concurrent use; requests made before the
// run begins take effect when it does.
type Control struct {
	loop.Steering
	hurry   chan struct{}
	secrets *redact.Redactor // redacted from what the actor is told

	mu      sync.Mutex
	stop    context.CancelCauseFunc // nil unless the run is going on
	kill    func()
	stopped bool
	differs func(context.Context) (loop.Change, error) // nil likewise
	answer  chan string                                // for the question that is open; nil: there is none
	shown   bool                                       // somebody watches on this terminal
	seen    time.Time                                  // when a remote watcher was last seen

	looking sync.Mutex // looks are expensive: one at a time
}

func newControl(secrets *redact.Redactor) *Control {
	return &Control{hurry: make(chan struct{}, 1), secrets: secrets}
}

// Steer asks something of the run; see [loop.Steering.Steer].
// What is said while [Control.Ask] waits is the answer.
func (c *Control) Steer(kind loop.SteerKind, text string) error {
	text = c.secrets.String(text)
	if kind == loop.SteerSay && c.answered(text) {
		return nil
	}
	return c.Steering.Steer(kind, text)
}

// answered hands over the answer to a question, and reports false if none is open.
func (c *Control) answered(text string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.answer == nil || strings.TrimSpace(text) == "" {
		return false
	}
	c.answer <- text
	c.answer = nil
	return true
}

// Ask waits until somebody answers a question with [Control.Steer]. The question is in the log. One can be open at a
// time.
func (c *Control) Ask(ctx context.Context) (answer string, err error) {
	given := make(chan string, 1)
	c.mu.Lock()
	c.answer = given
	c.mu.Unlock()
	select {
	case answer = <-given:
		return answer, nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// Stop ends the run like a cancelled context: agents are asked to stop, and the end is logged.
func (c *Control) Stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = true
	if c.stop != nil {
		c.stop(errStopped)
	}
}

// Kill kills the running agents at once and stops the run.
func (c *Control) Kill() {
	c.Stop()
	c.mu.Lock()
	kill := c.kill
	c.mu.Unlock()
	if kill != nil {
		kill()
	}
}

// Hurry ends a wait for a rate limit. It does nothing if nobody waits.
func (c *Control) Hurry() {
	select {
	case c.hurry <- struct{}{}:
	default: // one is pending
	}
}

// Ready forgets a Hurry that came when nobody waited.
func (c *Control) Ready() {
	select {
	case <-c.hurry:
	default:
	}
}

// Early returns a channel that receives a value when a wait is to end early.
func (c *Control) Early() <-chan struct{} { return c.hurry }

// begin connects the control to a run, until end is called.
func (c *Control) begin(ctx context.Context, kill func()) (_ context.Context, end func()) {
	ctx, stop := context.WithCancelCause(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stop, c.kill = stop, kill
	if c.stopped {
		stop(errStopped)
	}
	return ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.stop, c.kill, c.differs = nil, nil, nil
		stop(nil)
	}
}

// Diff returns what has changed since the session began, even in the middle of a turn: in the
// work tree of the turn that began last, which may be a fork's, or else in the user's own.
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

// shows provides [Control.Diff] with its data while a run goes on.
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

// Show says that a person on this terminal watches the changes.
func (c *Control) Show() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shown = true
}

// watched says that a remote watcher was seen.
func (c *Control) watched(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen = now
}

// isWatched reports whether anybody is watching, or was lately.
func (c *Control) isWatched(now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.shown || now.Sub(c.seen) < attention
}
