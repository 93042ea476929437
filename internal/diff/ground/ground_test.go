//go:build linux

package ground

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestGround(t *testing.T) {
	t.Parallel()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	must(err)
	above := filepath.Join(base, "above")
	root := filepath.Join(above, "root")
	must(os.MkdirAll(filepath.Join(root, "sub"), 0o700))
	g, err := Open(root)
	if errors.Is(err, ErrFileSystem) {
		t.Skip(err)
	}
	must(err)
	holds := func(dir string) bool {
		t.Helper()
		fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		must(err)
		defer unix.Close(fd)
		return g.Holds(fd)
	}
	if !holds(filepath.Join(root, "sub")) || holds("/proc") {
		t.Error("what is in the root's volume, or not, is not told")
	}
	must(os.Mkdir(filepath.Join(root, "new"), 0o700))
	if g.Changed() {
		t.Error("changed by a new directory")
	}
	must(os.Rename(above, filepath.Join(base, "old")))
	if !g.Changed() {
		t.Error("not changed when there is no root")
	}
	must(os.MkdirAll(root, 0o700))
	if !g.Changed() {
		t.Error("not changed by another root")
	}
	must(os.RemoveAll(above))
	must(os.Rename(filepath.Join(base, "old"), above))
	if g.Changed() {
		t.Error("changed when the root is back")
	}
	g.Close()
	if name, _ := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", g.mounts.fd)); strings.HasSuffix(name, "/mountinfo") {
		t.Error("the table of mounts is still open")
	}
	if _, err := Open(filepath.Join(base, "none")); err == nil {
		t.Error("a root that is not there has a ground")
	}
}
