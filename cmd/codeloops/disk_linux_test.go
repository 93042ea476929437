package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestFullDisk: wherever in a run the disk of the logs becomes full, it ends with a sentence and a hint, and the log that
// is there can be read.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	s := newStage(t, `
[[actor]]
step = [{ write = "done", content = "yes\n" }]
[[critic]]
say = """
DECISION: CONTINUE
FEEDBACK: once more
SEAL: {seal}"""
`)
	sessions := filepath.Join(s.dir, "sessions")
	if err := os.Mkdir(sessions, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", sessions, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("no file system can be mounted here: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(sessions, syscall.MNT_DETACH) })
	run := func(args ...string) (said string, code int) {
		t.Helper()
		cmd := s.codeloops(args...)
		if args[0] == "sessions" {
			cmd.Args = append(cmd.Args[:1], args...)
		}
		out, err := cmd.CombinedOutput()
		if exit, is := errors.AsType[*exec.ExitError](err); is {
			code = exit.ExitCode()
		} else if err != nil {
			t.Fatal(err)
		}
		return string(out), code
	}
	play := []string{"--max-iterations", "1", "do it"}
	if said, code := run(play...); code != 1 {
		t.Fatalf("with room it ends with %d: %s", code, said)
	}
	for free := 0; free <= 120; free += 8 {
		if err := fillBut(sessions, free<<10); err != nil {
			t.Fatal(err)
		}
		said, code := run(play...)
		switch {
		case code == 1:
		case code != 2 || !strings.Contains(said, "\nhint: free some space"):
			t.Errorf("with %d KiB it ends with %d: %s", free, code, said)
		}
		if err := os.Remove(filepath.Join(sessions, "ballast")); err != nil {
			t.Fatal(err)
		}
	}
	if said, code := run("sessions", "list"); code != 0 {
		t.Errorf("afterwards the list ends with %d: %s", code, said)
	}
}

// fillBut fills a small file system, but for so many bytes.
func fillBut(dir string, free int) error {
	var at syscall.Statfs_t
	if err := syscall.Statfs(dir, &at); err != nil {
		return err
	}
	room := int(at.Bavail) * int(at.Bsize)
	if room < free {
		return fmt.Errorf("only %d bytes are free", room)
	}
	return os.WriteFile(filepath.Join(dir, "ballast"), make([]byte, room-free), 0o600)
}
