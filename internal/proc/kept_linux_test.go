package proc

import (
	"os"
	"os/exec"
	"testing"
)

// TestLineOfDescent: that of a process which has ended says nothing.
func TestLineOfDescent(t *testing.T) {
	t.Parallel()
	if kept, whole := descends(os.Getpid()); kept != Kept() || !whole {
		t.Errorf("of this process: %v, %v", kept, whole)
	}
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	if kept, whole := descends(ended.Process.Pid); kept || whole {
		t.Errorf("of one that has ended: %v, %v", kept, whole)
	}
	if !KeptProcess(ended.Process.Pid) || !KeptProcess(0) || KeptProcess(os.Getpid()) != Kept() {
		t.Error("one of which nothing is known counts as free")
	}
}
