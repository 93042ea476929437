//go:build unix

package diff_test

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestFewDescriptors: a process that may open few files can capture a tree that is
// deeper, and has more directories, than that limit.
func TestFewDescriptors(t *testing.T) {
	t.Parallel()
	few, err := strconv.Atoi(os.Getenv("CODELOOPS_TEST_FEW"))
	if err != nil {
		few = 130 + 4*runtime.GOMAXPROCS(0) // some stay open, and each goroutine opens some
		again(t, fmt.Sprintf("CODELOOPS_TEST_FEW=%d", few))
		return
	}
	s := newRepo(t)
	deep := strings.Repeat("d/", few+50) + "f"
	s.write(deep, "f\n")
	s.write("g", "g\n")
	for i := range few + 50 {
		s.write(fmt.Sprintf("wide/%d/sub/f", i), "f\n")
	}
	s.commit("first")
	settle()
	var limit unix.Rlimit
	s.must(unix.Getrlimit(unix.RLIMIT_NOFILE, &limit))
	t.Cleanup(func() { _ = unix.Setrlimit(unix.RLIMIT_NOFILE, &limit) }) // or the cleanup could not remove everything
	s.must(unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: uint64(few), Max: limit.Max}))
	tree := s.begin()
	for _, content := range []string{"second\n", "third\n"} {
		s.write(deep, content)
		s.write("wide/7/sub/f", content)
		c, err := tree.Capture(t.Context())
		s.must(err)
		if got, want := summary(c), "M "+deep+"\nM wide/7/sub/f\n"; got != want || c.Warnings != nil {
			t.Errorf("captured %q, warnings %q", got, c.Warnings)
		}
	}
	for i := range few + 50 { // so that all known files are read again
		s.write(fmt.Sprintf("wide/%d/new", i), "new\n")
	}
	c, err := tree.Capture(t.Context())
	s.must(err)
	if got, want := len(c.Files), 2+few+50; got != want || c.Warnings != nil {
		t.Errorf("captured %d files of %d, warnings %q", got, want, c.Warnings)
	}
}

// again runs the test in a new process, which recognizes its role by a variable.
func again(t *testing.T, variable string, change ...func(*exec.Cmd)) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), variable)
	for _, change := range change {
		change(cmd)
	}
	testedBy(t, cmd)
}

// testedBy runs the test in another process, and skips it if it is skipped there.
func testedBy(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	out, err := cmd.CombinedOutput()
	switch {
	case strings.Contains(string(out), "SKIP: "+t.Name()):
		t.Skipf("%s", out)
	case err != nil || !strings.Contains(string(out), "PASS: "+t.Name()):
		t.Errorf("in another process: %v\n%s", err, out)
	}
}
