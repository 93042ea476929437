package proc

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// endOrphans ends the processes that killed keepers have left to this one.
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

// orphans returns our children that a keeper has left. Whatever descends from
// a keeper is in another session than ours, and nobody can enter a session
// from without; the other children of ours that are in a session of their own
// are keepers.
func orphans() []int {
	defer noForks()() // between fork and exec a keeper-to-be does not look like one
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
