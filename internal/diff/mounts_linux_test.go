package diff_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestUnderMounts: files that a mount in the work tree shows or hides are captured,
// although no stat changes. The test runs itself in a process that may mount.
func TestUnderMounts(t *testing.T) {
	t.Parallel()
	if !underOwnMounts(t, mayMount) {
		return
	}
	s := newRepo(t)
	s.write("a", "a\n")
	s.write("d/b", "b\n")
	s.write("d/e/c", "c\n")
	s.commit("first")
	settle()
	tree := s.begin()
	other := filepath.Join(s.base, "other")
	s.must(os.MkdirAll(filepath.Join(other, "sub"), 0o755))
	s.must(os.WriteFile(filepath.Join(other, "sub/x"), []byte("x\n"), 0o644))
	o := newOracle(s)
	check := func(what, want string) {
		t.Helper()
		c, err := tree.Capture(t.Context())
		s.must(err)
		o.check(c)
		if got := summary(c); got != want || c.Warnings != nil {
			t.Errorf("%s: captured %q, want %q, warnings %q", what, got, want, c.Warnings)
		}
	}
	dir, file := s.path("d/e"), s.path("a")
	mount(t, other, dir)
	check("a directory is mounted", "D d/e/c\nA d/e/sub/x\n")
	s.must(os.WriteFile(filepath.Join(other, "sub/y"), []byte("y\n"), 0o644))
	check("it is written to elsewhere", "D d/e/c\nA d/e/sub/x\nA d/e/sub/y\n")
	s.must(unix.Unmount(dir, 0))
	check("it is no longer mounted", "")
	mount(t, filepath.Join(other, "sub/x"), file)
	check("a file is mounted", "M a\n")
	s.must(unix.Unmount(file, 0))
	check("it is no longer mounted", "")
	s.must(unix.Mount("tmpfs", dir, "tmpfs", 0, ""))
	check("a file system is mounted", "D d/e/c\n")
	s.write("d/e/new", "new\n")
	check("it is written to", "D d/e/c\nA d/e/new\n")
	s.must(unix.Unmount(dir, 0))
	check("it is no longer mounted", "")
}

// underOwnMounts runs the test again in a process with its own mounts, and reports
// whether this is that process. The function that configures the process may skip the
// test.
func underOwnMounts(t *testing.T, own func(*testing.T) func(*exec.Cmd)) bool {
	t.Helper()
	if os.Getenv("CODELOOPS_TEST_MOUNTS") == "" {
		again(t, "CODELOOPS_TEST_MOUNTS=1", own(t))
		return false
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		t.Skipf("mounts cannot be kept from others: %v", err)
	}
	return true
}

func mount(t *testing.T, from, to string) {
	t.Helper()
	if err := unix.Mount(from, to, "", unix.MS_BIND, ""); err != nil {
		t.Fatal(err)
	}
}

// mayMount configures a process to have its own mounts and to be root there. It skips the
// test if that is not allowed.
func mayMount(t *testing.T) func(*exec.Cmd) {
	t.Helper()
	own := func(cmd *exec.Cmd) {
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		}
	}
	cmd := exec.CommandContext(t.Context(), "true")
	own(cmd)
	if err := cmd.Run(); err != nil {
		t.Skipf("a process cannot have mounts of its own: %v", err)
	}
	return own
}
