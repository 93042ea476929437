package proc

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// Kept reports whether this process descends from a keeper: it is a part of what a
// runner of another process runs.
func Kept() bool {
	for {
		if kept, whole := descends(os.Getppid()); whole {
			return kept
		}
	}
}

// KeptProcess reports whether another process descends from a keeper, of whatever run. One that
// is gone, or cannot be seen from here, may have.
func KeptProcess(pid int) bool {
	const tries = 10
	for range tries {
		if kept, whole := descends(pid); whole {
			return kept || pid <= 0
		}
	}
	return true
}

// descends reports whether a process, or one that it descends from, is a keeper. The line
// is not whole when one of them was gone before it was asked: whom it has left has another
// parent by then.
func descends(pid int) (kept, whole bool) {
	for pid > 0 {
		if strings.HasPrefix(readHead("/proc/"+strconv.Itoa(pid)+"/cmdline", maxCommandLine), keeperName+"\x00") {
			return true, true
		}
		state, parent := status(pid)
		if state == 0 { // gone, or hidden from us
			return false, !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
		}
		pid = parent
	}
	return false, true
}
