package term

import "golang.org/x/sys/unix"

// parentOf returns the process that has started another one, 0 when that is not
// known.
func parentOf(pid int) int {
	process, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return 0
	}
	return int(process.Eproc.Ppid)
}
