package run

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestWriteWhole: a file that cannot be written completely is removed, so that nobody reads a part
// of it.
func TestWriteWhole(t *testing.T) {
	t.Parallel()
	start := filepath.Join(t.TempDir(), "start")
	if err := os.Symlink("/dev/full", start+".new"); err != nil {
		t.Fatal(err)
	}
	if err := writeWhole(start, []byte("text")); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("on a full disk: %v", err)
	}
	if _, err := os.Lstat(start); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("a part of the file is left: %v", err)
	}
	if err := errors.Join(os.Remove(start+".new"), writeWhole(start, []byte("text"))); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(start); err != nil || string(text) != "text" {
		t.Errorf("it has %q, %v", text, err)
	}
}
