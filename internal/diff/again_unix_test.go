//go:build unix

package diff_test

import (
	"os/exec"
	"strings"
	"testing"
)

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
