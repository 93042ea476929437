package proc

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// A leader is the command's own process as the host sees it.
type leader struct {
	known chan struct{} // closed when the rest is set
	pid   int
	pidfd int // -1: the process, or the system's means, is not there
	dead  bool
}

func newLeader() *leader { return &leader{known: make(chan struct{}), pidfd: -1} }

// begins takes the number of the process, 0 when there is none.
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

// gone reports whether the process has ended, or is about to. It waits until it has
// begun.
func (l *leader) gone() bool {
	<-l.known
	if l.pidfd < 0 {
		return l.dead
	}
	if ending(l.pid) {
		return true
	}
	n, err := again(func() (int, error) { return unix.Poll([]unix.PollFd{{Fd: int32(l.pidfd), Events: unix.POLLIN}}, 0) })
	return err == nil && n > 0
}

// pfExiting is what proc_pid_stat(5) shows among the flags of a thread that exits
// (PF_EXITING in the kernel's sched.h).
const pfExiting = 0x4

// ending reports whether a process exits: all of its threads do. A process closes its
// files some time before it counts as ended, so that others may learn of its end in
// between; this is seen before they can. It is not seen of a process that is gone.
func ending(pid int) bool {
	threads := "/proc/" + strconv.Itoa(pid) + "/task"
	if !exits(threads + "/" + strconv.Itoa(pid)) {
		return false
	}
	all, err := os.ReadDir(threads)
	if err != nil {
		return false
	}
	return !slices.ContainsFunc(all, func(t fs.DirEntry) bool { return !exits(threads + "/" + t.Name()) })
}

// exits reports whether a thread exits, or has done so.
func exits(thread string) bool {
	stat, err := os.ReadFile(thread + "/stat")
	if err != nil {
		return true
	}
	// The name may hold anything; behind it, the state comes first, the flags seventh.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 7 {
		return false
	}
	flags, err := strconv.ParseUint(fields[6], 10, 32)
	return err == nil && flags&pfExiting != 0
}

// close is called when nobody asks any more.
func (l *leader) close() {
	if l.pidfd >= 0 {
		_ = unix.Close(l.pidfd)
	}
}
