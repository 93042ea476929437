package proc

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// endOrphans ends the processes that this one inherited from killed keepers.
func endOrphans() (survivors []Process) {
	return sweep{
		gone: func() bool {
			for _, pid := range orphans() {
				_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
			}
			return len(orphans()) == 0
		},
		list: func() []int {
			all := orphans()
			for _, pid := range all {
				all = append(all, descendants(pid)...)
			}
			return all
		},
	}.kill()
}

// orphans returns those of our children that a keeper has left. All descendants of a
// keeper are in sessions other than ours, and no process can join an existing session.
// Our other children with their own sessions are keepers.
func orphans() []int {
	defer noForks()() // between fork and exec a new keeper does not look like one
	own, err := unix.Getsid(0)
	if err != nil {
		return nil
	}
	var all []int
	for _, pid := range childrenOf(os.Getpid()) {
		session, err := unix.Getsid(pid)
		if err != nil || session == own || commandLine(pid) == keeperName+" " {
			continue
		}
		all = append(all, pid)
	}
	return all
}
