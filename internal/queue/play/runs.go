package play

import (
	"sync"

	"codeloops/internal/run"
)

// Runs are the runs in progress, which can all be killed.
type runs struct {
	mu     sync.Mutex
	all    map[*run.Control]bool
	killed bool
}

// kill kills the agents of all runs, also of later ones.
func (r *runs) kill() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.killed = true
	for c := range r.all {
		c.Kill()
	}
}

// add adds a run until end is called.
func (r *runs) add(c *run.Control) (end func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil {
		r.all = map[*run.Control]bool{}
	}
	r.all[c] = true
	if r.killed {
		c.Kill()
	}
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.all, c)
	}
}
