package session

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"
	"testing"
	"time"

	"codeloops/internal/loop"
)

var update = flag.Bool("update", false, "write the golden files anew")

// children are the roles of the test binary when a test starts it again as a process of its own.
var children = map[string]func(args []string) error{
	"write": childWrites,
	"full":  childFillsDisk,
	"lock":  childLocks,
	"hold":  childHolds,
	"obey":  childObeys,
}

func TestMain(m *testing.M) {
	if run, ok := children[os.Getenv("SESSION_TEST_CHILD")]; ok {
		if err := run(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child starts the test binary as another process and returns its standard
// output, line by line.
func child(t *testing.T, role string, args ...string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd, _, out := talkative(t, role, args...)
	return cmd, out
}

// talkative is child, and also returns its standard input.
func talkative(t *testing.T, role string, args ...string) (*exec.Cmd, io.Writer, *bufio.Scanner) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, args...)
	cmd.Env = append(os.Environ(), "SESSION_TEST_CHILD="+role)
	cmd.Stderr = os.Stderr
	// The child lives until this pipe is closed or it is killed.
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd, in, bufio.NewScanner(out)
}

// began is the start time of the sessions in these tests.
var began = time.Date(2025, 1, 27, 15, 30, 45, 123456789, time.UTC)

// stamped returns the stamp of the n-th event of a run.
func stamped(n int) loop.Stamp {
	return loop.Stamp{Seq: n, Time: began.Add(time.Duration(n-1) * 1500 * time.Millisecond)}
}

// read returns all entries of a log and the errors of the other lines.
func read(r *Reader) (entries []Entry, bad []error) {
	return sorted(r.Entries())
}

// sorted sorts the bad lines out.
func sorted(log iter.Seq2[Entry, error]) (entries []Entry, bad []error) {
	for e, err := range log {
		if err != nil {
			bad = append(bad, err)
			continue
		}
		entries = append(entries, e)
	}
	return entries, bad
}

// readFile reads a file without bad lines.
func readFile(t *testing.T, path string) []Entry {
	t.Helper()
	entries, bad := sorted(Read(path))
	if len(bad) > 0 {
		t.Fatalf("%s: %v", path, bad)
	}
	return entries
}

func newStore(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := NewStore(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
