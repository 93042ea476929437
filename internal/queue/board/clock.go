package board

import (
	"sync"
	"time"
)

// A clock is the hub's time. Clocks of different machines are never compared: everything is written with the hub's
// time.
type clock struct {
	here func() time.Time // this machine's clock

	mu         sync.Mutex
	there, was time.Time // the two clocks at the same moment
}

// look compares the clock with the hub's.
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
	return c.there.Add(c.here().Sub(c.was)) // Sub is monotonic, so setting the clock does not matter
}

// ahead is how far this machine's clock was ahead at the last comparison.
func (c *clock) ahead() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.was.Sub(c.there)
}
