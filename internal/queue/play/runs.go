package play

import (
	"sync"

	"codeloops/internal/run"
)

// Runs are those that are under way, which may all be killed.
type runs struct {
	mu     sync.Mutex
	all    map[*run.Control]bool
	killed bool
}

// kill ends the agents of all, and of those that are still to come, at once.
func (r *runs) kill() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.killed = true
	for c := range r.all {
		c.Kill()
	}
}

// add has a run killed with all others, until the returned function is called.
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
