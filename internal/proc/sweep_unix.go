//go:build unix

package proc

import (
	"math"
	"syscall"
	"time"
)

const (
	// settle is how long processes may take to end that were about to end
	// with the command's own process. They do not count as left over.
	settle = 20 * time.Millisecond
	// leftoverGrace is how long leftovers have between SIGTERM and SIGKILL.
	leftoverGrace = 2 * time.Second
	// killLimit is for how long killing is worth trying while their number does not
	// fall: what is still there then belongs to somebody else or hangs inside the kernel.
	killLimit = 5 * time.Second

	maxNamed = 32
)

// A sweep ends processes whose common ancestor is gone.
type sweep struct {
	// gone reaps what can be reaped and reports whether nobody is left.
	gone func() bool
	// list returns who is left; it may miss somebody who is just being born
	// or dying, so that only gone tells when it is over.
	list func() []int
	// hurry reports whether there is no time left for being gentle.
	hurry func() bool
	// asked are those who have had their SIGTERM.
	asked map[int]bool
}

// run returns when nobody is left, with those who did not end by themselves,
// and with those who cannot be ended.
func (s sweep) run() (leftovers, survivors []Process) {
	if poll(settle, time.Millisecond, s.hurry, s.gone) {
		return nil, nil
	}
	left, leftovers := s.look()
	if !s.hurry() {
		for _, pid := range left {
			if !s.asked[pid] {
				terminate(pid)
			}
		}
		if poll(leftoverGrace, time.Millisecond, s.hurry, s.gone) {
			return leftovers, nil
		}
	}
	return leftovers, s.kill()
}

// look returns who is left, and those of them that can be named: whoever dies just
// now cannot, nor who is being born.
func (s sweep) look() (left []int, named []Process) {
	poll(leftoverGrace, time.Millisecond, s.hurry, func() bool {
		left = s.list()
		named = name(left)
		return len(named) > 0 || s.gone()
	})
	return left, named
}

// kill kills until nobody is left, or returns those whom it cannot end.
func (s sweep) kill() (survivors []Process) {
	fewest := math.MaxInt
	left := newPatience(killLimit)
	defer left.close()
	for !s.gone() {
		if left.over() {
			if survivors = name(s.list()); len(survivors) == 0 {
				survivors = []Process{{Command: "?"}} // nothing to be known of them
			}
			return survivors
		}
		pids := s.list()
		kill(pids)
		if n := len(pids); n > 0 && n < fewest { // on a busy machine many take their time to die
			fewest = n
			left.renew()
		}
		left.wait(200 * time.Microsecond)
	}
	return nil
}

// poll asks done again and again, for as long as limit lasts or enough is
// false, and returns its last answer.
func poll(limit, pause time.Duration, enough, done func() bool) bool {
	left := newPatience(limit)
	defer left.close()
	for !done() {
		if enough() || left.over() {
			return false
		}
		left.wait(pause)
	}
	return true
}

// A patience is how long others may still take. While the whole machine stands still, which
// keeps them from doing anything, next to none of it is used up.
type patience struct {
	part  *time.Ticker // drops what nobody could receive
	parts int          // that are left
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

// terminate asks a process, or with -pid its process group, to end. A stopped
// process hears of it only when it is continued.
func terminate(pid int) {
	_ = syscall.Kill(pid, syscall.SIGTERM)
	_ = syscall.Kill(pid, syscall.SIGCONT)
}

// kill kills the processes together with their process groups: a group dies at
// one blow, so that a member cannot fork while others are being killed. The
// groups are the command's own, because it began in a new session.
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

// name describes those that still run.
func name(pids []int) []Process {
	var all []Process
	for _, pid := range pids {
		if line := commandLine(pid); line != "" && len(all) < maxNamed {
			all = append(all, Process{PID: pid, Command: printable(line)})
		}
	}
	return all
}
