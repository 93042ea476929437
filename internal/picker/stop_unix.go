//go:build unix

package picker

import (
	"os"
	"os/signal"
	"sync"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/sys/unix"
)

// A stopper gives the terminal back before the process is stopped, by Ctrl+Z or
// by the signal that another process sends, and takes it again afterwards.
type stopper struct {
	mu      sync.Mutex
	program *tea.Program
}

// serve listens for the signal until the returned function is called.
func (s *stopper) serve(program *tea.Program) (end func()) {
	s.program = program
	stops, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(stops, unix.SIGTSTP)
	go func() {
		for {
			select {
			case <-stops:
				s.stop()
			case <-done:
				return
			}
		}
	}()
	return func() {
		signal.Stop(stops)
		close(done)
	}
}

// stop stops the process with those that the shell started together with it. It
// is a [tea.Cmd] without a message. Of another signal than SIGSTOP Go would not
// restore what it does by default.
func (s *stopper) stop() tea.Msg {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !continued() || s.program.ReleaseTerminal() != nil {
		return nil
	}
	goes := make(chan os.Signal, 1) // on again: the call returns before all has stopped
	signal.Notify(goes, unix.SIGCONT)
	defer signal.Stop(goes)
	if unix.Kill(0, unix.SIGSTOP) == nil {
		<-goes
	}
	_ = s.program.RestoreTerminal() // the next write tells
	return nil
}

// continued reports whether there is a shell that can make the process go on:
// the system would not stop it for a Ctrl+Z otherwise (an orphaned process
// group, see setpgid(2)).
func continued() bool {
	parent := unix.Getppid()
	ours, errOurs := unix.Getsid(0)
	theirs, errTheirs := unix.Getsid(parent)
	group, err := unix.Getpgid(parent)
	return errOurs == nil && errTheirs == nil && err == nil && ours == theirs && group != unix.Getpgrp()
}
