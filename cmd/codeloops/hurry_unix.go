//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// hurry returns a channel that gets a value with each SIGUSR1: the user does
// not want to wait any longer for a limit to end. It keeps one.
func (s *signals) hurry() <-chan struct{} {
	got := make(chan os.Signal, 1)
	signal.Notify(got, syscall.SIGUSR1)
	now := make(chan struct{}, 1)
	go func() {
		for range got {
			select {
			case now <- struct{}{}:
			default: // there is one
			}
		}
	}()
	return now
}
