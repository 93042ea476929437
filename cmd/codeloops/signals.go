package main

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

// signals turns the signals that ask a process to end into, first, a cancelled
// context and, from the second on, a call of what has been registered to end
// things at once. The default action is never restored: with agents alive it
// would leave them to themselves. SIGQUIT is left to Go, which shows where every
// goroutine stands: whoever sends it looks for a fault.
type signals struct {
	mu    sync.Mutex
	first func()
	kill  func()
}

// A signalError is the cause with which a signal cancels the context.
type signalError struct{ signal os.Signal }

func (e *signalError) Error() string { return fmt.Sprintf("received the signal %q", e.signal) }

// Is makes a signal an ordinary cancellation to whoever asks.
func (e *signalError) Is(target error) bool { return errors.Is(target, context.Canceled) }

// interrupted returns the signal in place of an error that has come of it and
// says only that something was cancelled. An end that the user has been told of
// stays what it is.
func interrupted(ctx context.Context, err error) error {
	_, told := errors.AsType[*endedError](err)
	_, known := errors.AsType[*signalError](err)
	if told || known || !errors.Is(err, context.Canceled) {
		return err
	}
	if cause, ok := errors.AsType[*signalError](context.Cause(ctx)); ok {
		return cause
	}
	return err
}

// watch begins to listen; the returned function ends it.
func (s *signals) watch(parent context.Context) (context.Context, func()) {
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
				cancel(&signalError{sig})
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

// on registers what the first signal does, besides cancelling the context, and
// what each later one does.
func (s *signals) on(first, kill func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.first, s.kill = first, kill
}

// call does what is registered, and waits for it but for a terminal that hangs.
func (s *signals) call(first bool) {
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
