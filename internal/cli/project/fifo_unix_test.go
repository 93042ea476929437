//go:build unix

package project

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestFIFO: a manifest of a hostile project cannot block the search.
func TestFIFO(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "package.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	found := make(chan []string, 1)
	go func() { found <- Tests(dir) }()
	select {
	case checks := <-found:
		if checks != nil {
			t.Errorf("checks %q", checks)
		}
	case <-time.After(5 * time.Minute):
		t.Fatal("blocked by a FIFO")
	}
}
