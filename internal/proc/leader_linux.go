package proc

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// A leader is the command's own process as the host sees it.
type leader struct {
	known chan struct{} // closed when the rest is set
	pidfd int           // -1: the process, or the system's means, is not there
	dead  bool
}

func newLeader() *leader { return &leader{known: make(chan struct{}), pidfd: -1} }

// begins takes the number of the process, 0 when there is none.
func (l *leader) begins(pid int) {
	defer close(l.known)
	if pid == 0 {
		return
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err == nil {
		l.pidfd = fd
	}
	l.dead = errors.Is(err, syscall.ESRCH)
}

// gone reports whether the process has ended. It waits until it has begun.
func (l *leader) gone() bool {
	<-l.known
	if l.pidfd < 0 {
		return l.dead
	}
	n, err := again(func() (int, error) { return unix.Poll([]unix.PollFd{{Fd: int32(l.pidfd), Events: unix.POLLIN}}, 0) })
	return err == nil && n > 0
}

// close is called when nobody asks any more.
func (l *leader) close() {
	if l.pidfd >= 0 {
		_ = unix.Close(l.pidfd)
	}
}
