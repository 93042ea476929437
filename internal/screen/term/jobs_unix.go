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

// foregroundPoll is how often a background process checks whether it is in the foreground again.
const foregroundPoll = 50 * time.Millisecond

// Jobs is a process's own part of job control: it restores the terminal before the process is
// stopped, and takes it again when it is resumed. There is one per process; the zero value is
// ready.
type Jobs struct {
	mu     sync.Mutex
	held   int
	obeyed chan os.Signal // signals while there is no hold; made by the first one
}

// A Hold receives the signals that would otherwise stop the process.
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

// Signals returns the channel of these signals: SIGTSTP asks for a stop, and SIGCONT follows a stop
// by SIGSTOP.
func (h *Hold) Signals() <-chan os.Signal { return h.signals }

// IsStop reports whether a signal asks for a stop.
func IsStop(s os.Signal) bool { return s == unix.SIGTSTP }

// NotifyResize sends c a signal whenever the terminal is resized, until [signal.Stop]. Sending does
// not block.
func NotifyResize(c chan<- os.Signal) { signal.Notify(c, unix.SIGWINCH) }

// Release ends the hold. Afterwards SIGTSTP stops the process again: the Go runtime, once asked for
// that signal, would ignore it for good.
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

// Resumable reports whether a shell can resume the process after Ctrl+Z. Without one the system
// would not stop it either.
func (h *Hold) Resumable() bool { return resumable() }

// Stop stops the process group. The caller must have restored the terminal. Stop returns when the
// process is resumed and in the foreground again. The error is the cause of ctx, or that the
// terminal is gone.
func (h *Hold) Stop(ctx context.Context, terminal *os.File) error {
	h.stop(0, ctx.Done())
	fd := int(terminal.Fd())
	look := time.NewTicker(foregroundPoll)
	defer look.Stop()
	for {
		// The shell's kill may send SIGTERM together with SIGCONT. Taking the terminal now, in the
		// background, would stop the process again.
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

// stop stops the processes that pid means to [unix.Kill], and returns when this one is resumed or
// done is closed. Kill returns before all of them have stopped.
func (h *Hold) stop(pid int, done <-chan struct{}) {
	for len(h.signals) > 0 {
		<-h.signals
	}
	// The Go runtime would not restore the default action of SIGTSTP.
	if unix.Kill(pid, unix.SIGSTOP) != nil {
		return
	}
	for {
		select {
		case s := <-h.signals: // any other request to stop has been fulfilled
			if s == unix.SIGCONT {
				return
			}
		case <-done:
			return
		}
	}
}

// resumable reports whether the system would stop the process for Ctrl+Z: it does not stop an
// orphaned process group, which nobody could resume (see setpgid(2)). The parent may belong to the
// same group, as with make.
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
