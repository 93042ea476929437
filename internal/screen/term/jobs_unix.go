//go:build unix

package term

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// absence is how often a process in the background looks whether it still is.
const absence = 50 * time.Millisecond

// Jobs is the part of job control that a process has to play itself: one that
// holds a terminal in modes of its own gives it back before it is stopped, and
// takes it again afterwards. There is one for a process; the zero value is ready.
type Jobs struct {
	mu     sync.Mutex
	held   int
	obeyed chan os.Signal // while nobody holds; made by the first that did
}

// A Hold is told of what would stop the process, in place of its being stopped.
type Hold struct {
	jobs    *Jobs
	signals chan os.Signal
}

// Hold begins to catch SIGTSTP and SIGCONT, until the hold is released.
func (j *Jobs) Hold() *Hold {
	h := &Hold{jobs: j, signals: make(chan os.Signal, 8)}
	j.mu.Lock()
	defer j.mu.Unlock()
	signal.Notify(h.signals, unix.SIGTSTP, unix.SIGCONT)
	if j.held++; j.obeyed != nil {
		signal.Stop(j.obeyed)
	}
	return h
}

// Signals returns the channel of the signals that have come: one that asks for a
// stop, or SIGCONT, after a stop that could not be asked for.
func (h *Hold) Signals() <-chan os.Signal { return h.signals }

// IsStop reports whether a signal asks for a stop.
func IsStop(s os.Signal) bool { return s == unix.SIGTSTP }

// NotifyResize sends c a signal whenever the terminal gets another size, until
// [signal.Stop]. Sending does not block.
func NotifyResize(c chan<- os.Signal) { signal.Notify(c, unix.SIGWINCH) }

// Release ends the hold. SIGTSTP stops the process again from then on: the
// runtime, once it has been asked for that signal, would pass over it for good.
func (h *Hold) Release() {
	j := h.jobs
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.held--; j.held == 0 {
		if j.obeyed == nil {
			j.obeyed = make(chan os.Signal, 1)
			go obey(j.obeyed) // for as long as the process lives
		}
		signal.Notify(j.obeyed, unix.SIGTSTP)
	}
	signal.Stop(h.signals)
}

func obey(stops <-chan os.Signal) {
	for range stops {
		if resumable() {
			_ = unix.Kill(unix.Getpid(), unix.SIGSTOP)
		}
	}
}

// Resumable reports whether there is a shell that can make the process go on.
// Without one the system would not stop it for a Ctrl+Z either.
func (h *Hold) Resumable() bool { return resumable() }

// Stop stops the process with those that the shell started together with it,
// and returns when it goes on and the terminal, which has been given back, is its
// own again. The error is the cause of ctx, or that there is no terminal any more.
func (h *Hold) Stop(ctx context.Context, terminal *os.File) error {
	h.stop(0, ctx.Done())
	fd := int(terminal.Fd())
	look := time.NewTicker(absence)
	defer look.Stop()
	for {
		// SIGTERM may have come together with SIGCONT, by the shell's kill: whoever
		// took the terminal now, in the background, would be stopped once more.
		group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return fmt.Errorf("look whose the terminal is: %w", err)
		case group == unix.Getpgrp():
			return nil
		}
		select {
		case <-look.C:
		case <-ctx.Done():
		}
	}
}

// stop stops some processes, as [unix.Kill] names them, and returns when this one
// goes on, or when done is closed. The call that sends the signal returns before
// all has stopped.
func (h *Hold) stop(pid int, done <-chan struct{}) {
	for len(h.signals) > 0 {
		<-h.signals
	}
	// Of another signal the runtime would not restore what it does by default.
	if unix.Kill(pid, unix.SIGSTOP) != nil {
		return
	}
	for {
		select {
		case s := <-h.signals: // what else has asked for a stop has got it
			if s == unix.SIGCONT {
				return
			}
		case <-done:
			return
		}
	}
}

// resumable reports whether the system would stop the process for a Ctrl+Z: it
// does not where nobody could make it go on (an orphaned process group, see
// setpgid(2)). The one that has started it may be of the same group, like make.
func resumable() bool {
	group := unix.Getpgrp()
	session, err := unix.Getsid(0)
	for parent := unix.Getppid(); err == nil && parent > 0; parent = parentOf(parent) {
		theirs, errSession := unix.Getsid(parent)
		leader, errGroup := unix.Getpgid(parent)
		if errSession != nil || errGroup != nil || theirs != session {
			return false
		}
		if leader != group {
			return true
		}
	}
	return false
}
