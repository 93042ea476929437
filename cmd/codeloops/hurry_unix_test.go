//go:build unix

package main

import (
	"os"
	"syscall"
	"testing"
	"time"
)

// TestHurryEarly: a signal between the word that a wait begins and the wait ends
// it; one from before does not.
func TestHurryEarly(t *testing.T) { //nolint:paralleltest // every process has its signals once
	l := &lounge{app: &app{}, signals: (&signals{}).hurry()}
	hurry, leave := l.enter(time.Now().Add(time.Hour))
	defer leave()
	for range 2 {
		if err := syscall.Kill(os.Getpid(), syscall.SIGUSR1); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(liveness); len(hurry) == 0; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("the signal is lost while nobody receives it")
			}
		}
		l.ready()
		if len(hurry) > 0 {
			t.Error("the signal from before counts")
		}
	}
}
