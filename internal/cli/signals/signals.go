// Package signals makes the signals that ask a process to end a cancelled context, and
// then a call.
//
// SIGQUIT is for whoever looks for a fault: Go shows where every goroutine stands and ends
// the process, without an end in the log, as a SIGKILL does. SIGHUP ends a run as Ctrl+C
// does, unless codeloops was started with it ignored, by nohup. SIGTSTP stops codeloops
// alone: an agent works on, and nobody minds its time limit until codeloops goes on.
package signals

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// Signals turns the signals that ask a process to end into, first, a cancelled
// context and, from the second on, a call of what has been registered to end
// things at once. The default action is never restored: with agents alive it
// would leave them to themselves. SIGQUIT is left to Go, which shows where every
// goroutine stands: whoever sends it looks for a fault.
type Signals struct {
	mu    sync.Mutex
	first func()
	kill  func()
}

// An Error is the cause with which a signal cancels the context.
type Error struct{ Signal os.Signal }

func (e *Error) Error() string { return fmt.Sprintf("received the signal %q", e.Signal) }

// Is makes a signal an ordinary cancellation to whoever asks.
func (e *Error) Is(target error) bool { return errors.Is(target, context.Canceled) }

// stall is how long a signal waits for what it calls, such as a message on a terminal
// that hangs.
const stall = time.Second

// Watch begins to listen; the returned function ends it.
func (s *Signals) Watch(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	ch := make(chan os.Signal, 4)
	signal.Notify(ch, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as nohup leaves it: the run is to outlive its terminal
		signal.Notify(ch, syscall.SIGHUP)
	}
	// A reader that has gone away is an error of the write, not a reason to
	// die between two lines of the log.
	signal.Ignore(syscall.SIGPIPE)
	done := make(chan struct{})
	go func() {
		for {
			select {
			case sig := <-ch:
				s.call(ctx.Err() == nil)
				cancel(&Error{sig})
			case <-done:
				return
			}
		}
	}()
	return ctx, func() {
		signal.Stop(ch)
		close(done)
		cancel(nil)
	}
}

// On registers what the first signal does, besides cancelling the context, and
// what each later one does.
func (s *Signals) On(first, kill func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.first, s.kill = first, kill
}

// call does what is registered, and waits for it but for a terminal that hangs.
func (s *Signals) call(first bool) {
	s.mu.Lock()
	do := s.kill
	if first {
		do = s.first
	}
	s.mu.Unlock()
	if do == nil {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	select {
	case <-done:
	case <-time.After(stall):
	}
}
