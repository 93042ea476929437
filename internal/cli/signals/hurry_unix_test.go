//go:build unix

package signals

import (
	"os"
	"syscall"
	"testing"
	"time"
)

// TestHurry: each signal calls the function once.
func TestHurry(t *testing.T) { //nolint:paralleltest // signals belong to the process
	calls := make(chan struct{}, 1)
	defer (&Signals{}).Hurry(func() { calls <- struct{}{} })()
	for range 2 {
		if err := syscall.Kill(os.Getpid(), syscall.SIGUSR1); err != nil {
			t.Fatal(err)
		}
		select {
		case <-calls:
		case <-time.After(5 * time.Minute):
			t.Fatal("the signal is lost")
		}
	}
}
