package proc

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

// A host has keepers run commands: one keeper for each command of the moment,
// used again afterwards. One is started beforehand.
type host struct {
	unfit error // why this process cannot have keepers

	mu   sync.Mutex
	idle map[bool][]*remote // by whether they lay views
}

func newHost() *host {
	h := &host{idle: map[bool][]*remote{}}
	if h.unfit = prepare(); h.unfit != nil {
		return h
	}
	if k, err := startKeeper(false); err == nil { // or start tries again
		h.keep(k)
	}
	return h
}

// prepare makes this process the parent of what a killed keeper leaves.
func prepare() error {
	if isKeeper() {
		return errors.New("a keeper runs no commands: main must begin with proc.Keep")
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("adopt orphaned processes: %w", err)
	}
	return nil
}

// start hands a command to an idle keeper, or to a new one.
func (h *host) start(s spawn) (*child, error) {
	for {
		k, used, err := h.take(s.apart())
		if err != nil {
			return nil, err
		}
		awaitForks() // or what has just been written could not be run
		err = k.start(s)
		if err == nil {
			c := &child{keeper: k, leader: newLeader(), exited: make(chan map[int]bool, 1), ended: make(chan report, 1)}
			go func() { c.ended <- h.await(c, s.path) }()
			return c, nil
		}
		// A keeper that was killed while it was idle is no loss.
		k.close()
		if !used {
			return nil, fmt.Errorf("hand a command to its keeper: %w", err)
		}
	}
}

// take returns an idle keeper, or a new one.
func (h *host) take(views bool) (k *remote, used bool, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.unfit != nil {
		return nil, false, h.unfit
	}
	if last := len(h.idle[views]) - 1; last >= 0 {
		k, h.idle[views] = h.idle[views][last], h.idle[views][:last]
		return k, true, nil
	}
	if k, err = startKeeper(views); err != nil && views {
		err = &OverlayError{Err: fmt.Errorf("make a namespace for mounts: %w", err)}
	}
	return k, false, err
}

// keep lays a keeper by for the next command.
func (h *host) keep(k *remote) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.idle[k.views] = append(h.idle[k.views], k)
}

// await returns the report on the command at path that c is, and keeps its keeper
// unless nothing more can be run by it.
func (h *host) await(c *child, path string) report {
	r, err := c.follow(path)
	k := c.keeper
	if err != nil {
		k.close()
		// Whether it had been told to end is for the supervisor to know.
		return report{exitCode: -1, stopped: true, err: lost(endOrphans())}
	}
	if _, stuck := errors.AsType[*SurvivorError](r.err); stuck || r.spent {
		k.close()
	} else {
		h.keep(k)
	}
	return r
}

func lost(survivors []Process) error {
	if len(survivors) > 0 {
		return fmt.Errorf("%w: %w", ErrKeeper, &SurvivorError{Processes: survivors})
	}
	return ErrKeeper
}

// close lets the keepers go. Nothing runs any more, and nothing will.
func (h *host) close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, k := range slices.Concat(h.idle[false], h.idle[true]) {
		k.close()
	}
	clear(h.idle)
	return nil
}

// A child is a command that a keeper runs.
type child struct {
	keeper *remote
	leader *leader
	exited chan map[int]bool // one at most: those who outlive the command's own process
	ended  chan report       // one
}

// follow takes what the keeper tells until it is the report.
func (c *child) follow(path string) (report, error) {
	m, err := c.hear()
	pid := 0
	if err == nil && m.Kind == msgStarted && len(m.PIDs) == 1 {
		pid = m.PIDs[0]
	}
	c.leader.begins(pid)
	for ; err == nil; m, err = c.hear() {
		if m.Kind == msgStarted {
			continue
		}
		if m.Kind != msgExited {
			return m.report(path)
		}
		outlived := map[int]bool{}
		for _, pid := range m.PIDs {
			outlived[pid] = true
		}
		c.exited <- outlived
	}
	return report{}, err
}

func (c *child) hear() (m message, err error) {
	err = c.keeper.receive.Decode(&m)
	return m, err
}

// sweep is called once after exited: what is left may be told to end.
func (c *child) sweep() { c.keeper.tell(msgSweep) }

func (c *child) terminate() { c.keeper.tell(msgTerminate) }
func (c *child) kill()      { c.keeper.tell(msgKill) }
