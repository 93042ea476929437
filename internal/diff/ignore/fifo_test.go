//go:build unix

package ignore

import (
	"path/filepath"
	"syscall"
	"testing"
)

// Nobody writes to the FIFO, so a plain open would wait forever.
func TestFIFO(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := syscall.Mkfifo(filepath.Join(w.tree, fileName), 0o600); err != nil {
		t.Fatal(err)
	}
	r := w.rules(false)
	if r.Root().Ignored("a", false) {
		t.Error("a is ignored")
	}
}
