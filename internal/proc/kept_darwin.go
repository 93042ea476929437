package proc

import (
	"os"

	"golang.org/x/sys/unix"
)

// UnderKeeper reports whether this process descends from another one of the same program, whose
// runner then started it. It misses a process that has lost one of its ancestors.
func UnderKeeper() bool {
	own, err := unix.SysctlKinfoProc("kern.proc.pid", os.Getpid())
	if err != nil {
		return false
	}
	for pid := int(own.Eproc.Ppid); pid > 1; {
		p, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
		if err != nil {
			return false
		}
		if p.Proc.P_comm == own.Proc.P_comm {
			return true
		}
		pid = int(p.Eproc.Ppid)
	}
	return false
}
