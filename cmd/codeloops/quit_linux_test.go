package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"codeloops/internal/command"
)

// TestQuit sends SIGQUIT, as Ctrl+\ does, while an agent works that has started a process in
// another session: codeloops dumps its goroutines, and leaves only a session that can be resumed.
func TestQuit(t *testing.T) {
	t.Parallel()
	for _, phase := range []string{"actor", "critic"} {
		t.Run(phase, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, phases)
			s.write("hold-"+phase, "")
			cmd := s.codeloops("-n", "1", "--", "task")
			var shown bytes.Buffer
			cmd.Stderr = &shown
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			s.await(phase, func() bool { _, err := os.Stat(filepath.Join(s.dir, phase)); return err == nil })
			s.await("what "+phase+" leaves", func() bool { return running(s.dir, s.word) })
			if err := cmd.Process.Signal(syscall.SIGQUIT); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // the exit code is checked below
			if code := cmd.ProcessState.ExitCode(); code != 2 || !strings.Contains(shown.String(), "SIGQUIT: quit") || !strings.Contains(shown.String(), "goroutine 1 ") {
				t.Errorf("exit code %d: %s", code, shown.String())
			}
			s.check()

			if err := os.Remove(filepath.Join(s.dir, "hold-"+phase)); err != nil {
				t.Fatal(err)
			}
			again := s.codeloops()
			again.Args = []string{again.Args[0], "resume", "--script", "../scenario.toml"}
			if out, err := again.CombinedOutput(); again.ProcessState.ExitCode() != command.ExitLimit {
				t.Errorf("resume: %v\n%s", err, out)
			}
		})
	}
}
