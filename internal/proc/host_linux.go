package proc

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

// A host runs commands through keepers, one for each running command. Keepers are reused;
// the first one is started in advance.
type host struct {
	unfit error // why this process cannot have keepers

	mu   sync.Mutex
	idle map[bool][]*remote // by whether they can mount views
}

// shared is the host of this process. A run in a worker finds the keepers of the worker
// and of earlier runs, which saves most of the time that its start takes.
var shared struct { //nolint:gochecknoglobals // one for the process, like its children
	sync.Mutex
	*host
	users int
}

// newHost returns the host of this process, which every runner closes.
func newHost() *host {
	shared.Lock()
	defer shared.Unlock()
	if shared.users++; shared.users > 1 {
		return shared.host
	}
	h := &host{idle: map[bool][]*remote{}}
	shared.host = h
	if h.unfit = prepare(); h.unfit != nil {
		return h
	}
	if k, err := startKeeper(false); err == nil { // if it fails, start tries again
		h.keep(k)
	}
	return h
}

// prepare makes this process adopt what a killed keeper leaves.
func prepare() error {
	if isKeeper() {
		return errors.New("a keeper runs no commands: main must begin with proc.Keep")
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("adopt orphaned processes: %w", err)
	}
	return nil
}

// start passes a command to an idle keeper, or to a new one.
func (h *host) start(s spawn) (*child, error) {
	for {
		k, used, err := h.take(!s.empty())
		if err != nil {
			return nil, err
		}
		awaitForks() // otherwise a program that has just been written could not be run
		err = k.start(s)
		if err == nil {
			c := &child{keeper: k, leader: newLeader(), exited: make(chan map[int]bool, 1), ended: make(chan report, 1)}
			go func() { c.ended <- h.await(c, s.Path) }()
			return c, nil
		}
		// If the keeper was killed while it was idle, try the next one.
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

// keep stores an idle keeper for the next command.
func (h *host) keep(k *remote) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.idle[k.views] = append(h.idle[k.views], k)
}

// await returns the report on c, the program at path, and keeps its keeper if it can run
// another command.
func (h *host) await(c *child, path string) report {
	r, err := c.follow(path)
	k := c.leave()
	if err != nil {
		k.close()
		err = ErrKeeper
		if survivors := endOrphans(); len(survivors) > 0 {
			err = fmt.Errorf("%w: %w", ErrKeeper, &SurvivorError{Processes: survivors})
		}
		// Stopped: the supervisor knows whether it was told to end.
		return report{Result: Result{ExitCode: -1}, Stopped: true, err: err}
	}
	if len(r.Survivors) > 0 || r.spent {
		k.close()
	} else {
		h.keep(k)
	}
	return r
}

// close ends the keepers if no other runner is open. No command of the runner may be
// running.
func (h *host) close() error {
	shared.Lock()
	defer shared.Unlock()
	if shared.users--; shared.users > 0 {
		return nil
	}
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
	exited chan map[int]bool // at most one: the processes that outlive the command's own
	ended  chan report       // one

	mu   sync.Mutex
	left bool // the keeper may have another command
}

// follow handles the keeper's messages until the final report.
func (c *child) follow(path string) (report, error) {
	hear := func() (m message, err error) { // a new message each time: Decode leaves absent fields alone
		err = c.keeper.receive.Decode(&m)
		return m, err
	}
	m, err := hear()
	pid := 0
	if err == nil && m.Kind == msgStarted && len(m.PIDs) == 1 {
		pid = m.PIDs[0]
	}
	c.leader.begins(pid)
	for ; err == nil; m, err = hear() {
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

// sweep is called once, after exited: the leftovers may be ended.
func (c *child) sweep() { c.tell(msgSweep) }

func (c *child) terminate() { c.tell(msgTerminate) }
func (c *child) kill()      { c.tell(msgKill) }

// tell sends the keeper a message, unless the command is over: a late one would reach the next command.
func (c *child) tell(about kind) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.left {
		c.keeper.tell(about)
	}
}

// leave returns the keeper, which gets no more messages about the command.
func (c *child) leave() *remote {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left = true
	return c.keeper
}
