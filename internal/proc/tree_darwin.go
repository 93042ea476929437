package proc

import (
	"maps"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

const zombie = 5 // SZOMB in sys/proc.h

// A family is a process with its descendants, including those that have lost their
// parents since they were last seen.
type family struct {
	founder int // set before the first list

	mu    sync.Mutex
	known map[int]unix.Timeval // start time by PID, because PIDs are reused
}

// list returns the running members, and remembers them for the next call.
func (f *family) list() []int {
	f.mu.Lock()
	defer f.mu.Unlock()
	table, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil
	}
	members := map[int]unix.Timeval{}
	for grown := true; grown; {
		grown = false
		for i := range table {
			p := &table[i]
			pid := int(p.Proc.P_pid)
			if _, ok := members[pid]; !ok && p.Proc.P_stat != zombie && f.has(p, members) {
				members[pid] = p.Proc.P_starttime
				grown = true
			}
		}
	}
	f.known = members
	return slices.Collect(maps.Keys(members))
}

// has reports whether p was known before, is in the founder's group or session, or has a
// member as its parent.
func (f *family) has(p *unix.KinfoProc, members map[int]unix.Timeval) bool {
	pid := int(p.Proc.P_pid)
	if started, ok := f.known[pid]; ok && started == p.Proc.P_starttime {
		return true
	}
	if _, ok := members[int(p.Eproc.Ppid)]; ok {
		return true
	}
	if int(p.Eproc.Pgid) == f.founder {
		return true
	}
	session, err := unix.Getsid(pid)
	return err == nil && session == f.founder
}

// commandLine returns the name of a process, "" when there is none.
func commandLine(pid int) string {
	p, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || p.Proc.P_stat == zombie {
		return ""
	}
	return unix.ByteSliceToString(p.Proc.P_comm[:])
}
