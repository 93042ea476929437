//go:build unix

package signals

import (
	"os"
	"os/signal"
	"syscall"
)

// Hurry calls a function on each SIGUSR1, until the returned function is called: the user does
// not want to wait for the end of a rate limit.
func (s *Signals) Hurry(now func()) (stop func()) {
	got := make(chan os.Signal, 1)
	signal.Notify(got, syscall.SIGUSR1)
	return each(got, func(os.Signal) { now() })
}
