package proc

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// A leader is the command's own process as the host sees it.
type leader struct {
	known chan struct{} // closed when the other fields are set
	pid   int
	pidfd int // -1: there is no process, or the system has no pidfds
	dead  bool
}

func newLeader() *leader { return &leader{known: make(chan struct{}), pidfd: -1} }

// begins sets the PID of the process, 0 when there is none.
func (l *leader) begins(pid int) {
	defer close(l.known)
	if pid == 0 {
		return
	}
	l.pid = pid
	fd, err := unix.PidfdOpen(pid, 0)
	if err == nil {
		l.pidfd = fd
	}
	l.dead = errors.Is(err, syscall.ESRCH)
}

// gone reports whether the process has ended or is exiting. It waits for begins.
func (l *leader) gone() bool {
	<-l.known
	if l.pidfd < 0 {
		return l.dead
	}
	if exiting(l.pid) {
		return true
	}
	n, err := again(func() (int, error) { return unix.Poll([]unix.PollFd{{Fd: int32(l.pidfd), Events: unix.POLLIN}}, 0) })
	return err == nil && n > 0
}

// pfExiting is the flag of an exiting thread in proc_pid_stat(5) (PF_EXITING in the
// kernel's sched.h).
const pfExiting = 0x4

// exiting reports whether a process is exiting, which means that all of its threads are.
// A process closes its files some time before it counts as ended, and other processes
// may notice that in between; this check sees the end before they can. It does not see
// a process that is gone.
func exiting(pid int) bool {
	threads := "/proc/" + strconv.Itoa(pid) + "/task"
	if !threadExiting(threads + "/" + strconv.Itoa(pid)) {
		return false
	}
	all, err := os.ReadDir(threads)
	if err != nil {
		return false
	}
	return !slices.ContainsFunc(all, func(t fs.DirEntry) bool { return !threadExiting(threads + "/" + t.Name()) })
}

// threadExiting reports whether a thread is exiting or gone.
func threadExiting(dir string) bool {
	fields := stat(dir)
	if len(fields) < 7 {
		return len(fields) == 0
	}
	flags, err := strconv.ParseUint(fields[6], 10, 32)
	return err == nil && flags&pfExiting != 0
}

// close must not be called before the last call of gone has returned.
func (l *leader) close() {
	if l.pidfd >= 0 {
		_ = unix.Close(l.pidfd)
	}
}
