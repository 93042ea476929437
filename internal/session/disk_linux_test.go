package session

import (
	"syscall"
	"testing"
)

func TestFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=100k"); err != nil {
		t.Skip("no right to mount a small file system; TestFileSizeLimit tests the same path:", err)
	}
	defer func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	}()
	if err := fillDisk(dir); err != nil {
		t.Error(err)
	}
}
