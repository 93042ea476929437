package proc

import (
	"os"
	"os/exec"
	"testing"
)

// TestLineOfDescent: nothing is known about the ancestors of a process that has ended.
func TestLineOfDescent(t *testing.T) {
	t.Parallel()
	if kept, whole := descends(os.Getpid()); kept != UnderKeeper() || !whole {
		t.Errorf("this process: %v, %v", kept, whole)
	}
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	if kept, whole := descends(ended.Process.Pid); kept || whole {
		t.Errorf("a process that has ended: %v, %v", kept, whole)
	}
	if !HasKeeper(ended.Process.Pid) || !HasKeeper(0) || HasKeeper(os.Getpid()) != UnderKeeper() {
		t.Error("an unknown process does not count as kept")
	}
}
