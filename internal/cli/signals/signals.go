// Package signals handles the signals that ask a process to stop.
//
// SIGQUIT is left to Go, for debugging: it dumps all goroutines and exits, without an end in
// the log, like SIGKILL. SIGHUP ends a run like Ctrl+C, unless nohup ignores it. SIGTSTP stops
// only codeloops: the agent continues, and its time limit is not enforced until codeloops
// continues.
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

// Signals turns the first signal into a cancelled context, and each later one into a call
// of the registered kill function. The default action is never restored, because it would
// leave agents running.
type Signals struct {
	mu    sync.Mutex
	first func()
	kill  func()
}

// An Error is the cause with which a signal cancels the context.
type Error struct{ Signal os.Signal }

func (e *Error) Error() string { return fmt.Sprintf("received the signal %q", e.Signal) }

// Is makes a signal count as context.Canceled.
func (e *Error) Is(target error) bool { return errors.Is(target, context.Canceled) }

// stall bounds how long a signal waits for the function that it calls, which may write to a
// terminal that hangs.
const stall = time.Second

// Watch begins to listen for signals, until the returned function is called.
func (s *Signals) Watch(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	ch := make(chan os.Signal, 4)
	signal.Notify(ch, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it: the run should outlive its terminal
		signal.Notify(ch, syscall.SIGHUP)
	}
	// A closed pipe is an error of the write, not a reason to die between two
	// lines of the log.
	signal.Ignore(syscall.SIGPIPE)
	stop := each(ch, func(sig os.Signal) {
		s.call(ctx.Err() == nil)
		cancel(&Error{sig})
	})
	return ctx, func() {
		signal.Stop(ch)
		stop()
		cancel(nil)
	}
}

// each calls do with each signal, until stop is called.
func each(ch <-chan os.Signal, do func(os.Signal)) (stop func()) {
	done := make(chan struct{})
	go func() {
		for {
			select {
			case sig := <-ch:
				do(sig)
			case <-done:
				return
			}
		}
	}()
	return func() { close(done) }
}

// On registers what the first signal does before it cancels the context, and what
// each later one does.
func (s *Signals) On(first, kill func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.first, s.kill = first, kill
}

// call calls the registered function, and waits for it unless the terminal hangs.
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
