//go:build unix

package proc

import (
	"math"
	"syscall"
	"time"
)

const (
	// settle is the time for processes that are ending along with the command's own
	// process. They do not count as leftovers.
	settle = 20 * time.Millisecond
	// leftoverGrace is the time between SIGTERM and SIGKILL for leftovers.
	leftoverGrace = 2 * time.Second
	// killLimit is how long to go on killing while the number of processes does not
	// fall. What is still there then belongs to another user or hangs in the kernel.
	killLimit = 5 * time.Second

	maxNamed = 32
)

// A sweep ends processes whose common ancestor is gone.
type sweep struct {
	// gone reaps what can be reaped and reports whether nothing is left.
	gone func() bool
	// list returns what is left. It may miss a process that is just starting or ending,
	// so only gone is authoritative.
	list func() []int
	// hurry reports whether to kill without asking first.
	hurry func() bool
	// asked are the processes that have had their SIGTERM.
	asked map[int]bool
}

// run returns when nothing is left: the processes that did not end by themselves, and
// those that could not be ended.
func (s sweep) run() (leftovers, survivors []Process) {
	if s.within(settle, s.gone) {
		return nil, nil
	}
	left, leftovers := s.look()
	if !s.hurry() {
		for _, pid := range left {
			if !s.asked[pid] {
				terminate(pid)
			}
		}
		if s.within(leftoverGrace, s.gone) {
			return leftovers, nil
		}
	}
	return leftovers, s.kill()
}

// look returns what is left, and the part that can be named: a process that is just
// starting or ending cannot.
func (s sweep) look() (left []int, named []Process) {
	s.within(leftoverGrace, func() bool {
		left = s.list()
		named = name(left)
		return len(named) > 0 || s.gone()
	})
	return left, named
}

// kill kills until nothing is left, or returns the processes that it cannot end.
func (s sweep) kill() (survivors []Process) {
	fewest := math.MaxInt
	left := newPatience(killLimit)
	defer left.close()
	for !s.gone() {
		if left.over() {
			if survivors = name(s.list()); len(survivors) == 0 {
				survivors = []Process{{Command: "?"}} // nothing is known about them
			}
			return survivors
		}
		pids := s.list()
		kill(pids)
		if n := len(pids); n > 0 && n < fewest { // on a busy machine it takes long to end many
			fewest = n
			left.renew()
		}
		left.wait(200 * time.Microsecond)
	}
	return nil
}

// within calls done until it is true, the limit is over or there is a hurry. It returns the
// last result of done.
func (s sweep) within(limit time.Duration, done func() bool) bool {
	left := newPatience(limit)
	defer left.close()
	for !done() {
		if s.hurry() || left.over() {
			return false
		}
		left.wait(time.Millisecond)
	}
	return true
}

// A patience is a timeout that hardly runs while the whole machine is suspended, when
// other processes cannot do anything either.
type patience struct {
	part  *time.Ticker // drops the ticks that nobody received
	parts int          // ticks that are left
}

const allParts = 20

func newPatience(limit time.Duration) *patience {
	return &patience{part: time.NewTicker(limit / allParts), parts: allParts}
}

func (p *patience) wait(pause time.Duration) {
	select {
	case <-p.part.C:
		p.parts--
	case <-time.After(pause):
	}
}

func (p *patience) over() bool { return p.parts <= 0 }
func (p *patience) renew()     { p.parts = allParts }
func (p *patience) close()     { p.part.Stop() }

// terminate asks a process, or with -pid its process group, to end. A stopped process
// handles the signal only when it is continued.
func terminate(pid int) {
	_ = syscall.Kill(pid, syscall.SIGTERM)
	_ = syscall.Kill(pid, syscall.SIGCONT)
}

// kill kills the processes and their process groups. A group is killed atomically, so
// that no member can fork meanwhile. All groups are the command's, because it began in a
// new session.
func kill(pids []int) {
	groups := map[int]bool{0: true, syscall.Getpgrp(): true}
	for _, pid := range pids {
		group, err := syscall.Getpgid(pid)
		if err == nil && !groups[group] {
			groups[group] = true
			_ = syscall.Kill(-group, syscall.SIGKILL)
		}
	}
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// name describes the processes that still run.
func name(pids []int) []Process {
	var all []Process
	for _, pid := range pids {
		if line := commandLine(pid); line != "" && len(all) < maxNamed {
			all = append(all, Process{PID: pid, Command: printable(line)})
		}
	}
	return all
}
