package proc

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// UnderKeeper reports whether this process descends from a keeper, and so from a command of
// another process's runner.
func UnderKeeper() bool {
	for {
		if kept, sure := descends(os.Getppid()); sure {
			return kept
		}
	}
}

// HasKeeper reports whether a process descends from the keeper of any run. It errs on
// the side of true for a process that is gone or not visible.
func HasKeeper(pid int) bool {
	const tries = 10
	for range tries {
		if kept, sure := descends(pid); sure {
			return kept || pid <= 0
		}
	}
	return true
}

// descends reports whether a process or one of its ancestors is a keeper. It is not sure
// if an ancestor ended during the walk, because its children have another parent now.
func descends(pid int) (kept, sure bool) {
	for pid > 0 {
		if strings.HasPrefix(readHead("/proc/"+strconv.Itoa(pid)+"/cmdline", maxCommandLine), keeperName+"\x00") {
			return true, true
		}
		state, parent := status(pid)
		if state == 0 { // gone, or not visible to us
			return false, !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
		}
		pid = parent
	}
	return false, true
}
