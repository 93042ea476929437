package term

import (
	"golang.org/x/sys/unix"
)

const (
	readModes   = unix.TIOCGETA
	writeModes  = unix.TIOCSETA
	askReadable = 0x4004667f // FIONREAD of sys/filio.h
)

// parentOf returns the parent of a process, 0 if it is unknown.
func parentOf(pid int) int {
	process, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return 0
	}
	return int(process.Eproc.Ppid)
}
