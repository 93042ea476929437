package proc

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestWrittenMeanwhile: a program can be run even if it was being written when this
// process forked: the child has it open until its exec.
func TestWrittenMeanwhile(t *testing.T) {
	t.Parallel()
	r := NewRunner(time.Now)
	defer r.Close()
	program := filepath.Join(t.TempDir(), "program")
	f, err := os.OpenFile(program, os.O_CREATE|os.O_WRONLY, 0o700)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("#!/bin/sh\nexit 3\n"); err != nil {
		t.Fatal(err)
	}
	type ended struct {
		Result
		err error
	}
	ran := make(chan ended, 1)
	syscall.ForkLock.Lock() // as during a fork
	go func() {
		res, err := r.Run(t.Context(), Command{Invocation: Invocation{Argv: []string{program}, Dir: "/"}})
		ran <- ended{res, err}
	}()
	time.Sleep(100 * time.Millisecond) // long enough to run the program too early
	err = f.Close()
	syscall.ForkLock.Unlock()
	if got := <-ran; got.ExitCode != 3 || errors.Join(got.err, err) != nil {
		t.Errorf("exit code %d, %v, %v", got.ExitCode, got.err, err)
	}
}
