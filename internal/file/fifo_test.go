//go:build unix

package file

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"
)

// Nobody writes to the FIFO, so a plain open would wait forever.
func TestReadFIFO(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, noFollow := range []bool{false, true} {
		if _, _, err := Read(path, Options{NoFollow: noFollow, Max: 10}); !errors.Is(err, ErrNotRegular) {
			t.Errorf("Read: %v, want %v", err, ErrNotRegular)
		}
	}
}
