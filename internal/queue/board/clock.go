package board

import (
	"sync"
	"time"
)

// A clock is the time of the hub. The clocks of several machines are never compared: whatever is
// written has the time of the one hub that they share.
type clock struct {
	here func() time.Time // by the clock of this machine

	mu         sync.Mutex
	there, was time.Time // at the same moment, the other one here
}

// look sets the clock by what the hub says.
func (c *clock) look(ask func() (time.Time, error)) error {
	asked := c.here()
	there, err := ask()
	if err != nil {
		return err
	}
	here := c.here()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.there, c.was = there, asked.Add(here.Sub(asked)/2)
	return nil
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.there.Add(c.here().Sub(c.was)) // which the clock's being set does not change
}

// ahead is how far the clock of this machine was ahead when the hub was last asked.
func (c *clock) ahead() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.was.Sub(c.there)
}
