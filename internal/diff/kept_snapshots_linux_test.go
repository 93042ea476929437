package diff_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"codeloops/internal/loop"
)

// TestKeptUnderSnapshots runs itself where it may mount a file system of which there
// are snapshots: as root, with the tools of btrfs.
func TestKeptUnderSnapshots(t *testing.T) {
	t.Parallel()
	if !underOwnMounts(t, mayMountImages) {
		return
	}
	for name, volume := range map[string]string{"of all": "", "of a directory": "d"} { //nolint:paralleltest // a mount has all closed
		t.Run(name, func(t *testing.T) {
			s := newSandboxIn(t, snapshots(t))
			s.remove("")
			tool(t, "btrfs", "subvolume", "create", s.root)
			s.initialized()
			if volume != "" {
				tool(t, "btrfs", "subvolume", "create", s.path(volume))
			}
			s.write("d/e/f", "f\n")
			s.commit("first")
			settle()
			tree, hinted, snapshot := s.begin(), s.beginHinted(), filepath.Join(s.base, "snapshot")
			for range 2 {
				s.must(second(tree.Capture(t.Context())))
				hinted.AwaitHints()
				s.must(second(hinted.Recapture(t.Context())))
			}
			tool(t, "btrfs", "subvolume", "snapshot", s.path(volume), snapshot)
			tool(t, "btrfs", "subvolume", "delete", s.path(volume))
			tool(t, "btrfs", "subvolume", "snapshot", snapshot, s.path(volume))
			s.write("d/e/f", "new\n")
			for how, look := range map[string]func(context.Context) (loop.Change, error){"": tree.Capture, "by hints ": hinted.Recapture} {
				c, err := look(t.Context())
				s.must(err)
				if got, want := summary(c), "M d/e/f\n"; got != want {
					t.Errorf("captured %s%q, want %q", how, got, want)
				}
			}
		})
	}
}

// mayMountImages is mayMount for a file system in a file, which takes more.
func mayMountImages(t *testing.T) func(*exec.Cmd) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root may mount an image")
	}
	for _, name := range []string{"mkfs.btrfs", "btrfs", "mount"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip(err)
		}
	}
	return func(cmd *exec.Cmd) {
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS}
	}
}

// snapshots returns a directory of a file system of its own, until the test ends.
func snapshots(t *testing.T) string {
	t.Helper()
	const size = 256 << 20 // bytes, most of which nobody writes
	dir, image := t.TempDir(), filepath.Join(t.TempDir(), "image")
	if err := os.WriteFile(image, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(image, size); err != nil {
		t.Fatal(err)
	}
	tool(t, "mkfs.btrfs", "-q", image)
	if out, err := exec.CommandContext(t.Context(), "mount", "-o", "loop", image, dir).CombinedOutput(); err != nil {
		t.Skipf("nothing can be mounted: %s", out)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	return dir
}
