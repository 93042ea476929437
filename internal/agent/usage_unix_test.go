//go:build unix

package agent

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"codeloops/internal/loop"
)

// TestUsageFIFO: an agent that makes a FIFO of its usage file does not keep its turn from ending.
func TestUsageFIFO(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "turn.usage")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	var turn loop.Turn
	known("copilot").addUsage(&turn, name)
	if _, err := os.Lstat(name); turn.Usage.Tokens != nil || err == nil {
		t.Errorf("tokens %+v, and the file is still there: %v", turn.Usage.Tokens, err == nil)
	}
}
