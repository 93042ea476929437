//go:build unix

package scan

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestHandle: what has taken the place of a file or directory since it was listed
// is neither waited for nor followed.
func TestHandle(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	in := func(name string) string { return filepath.Join(root, name) }
	for _, err := range []error{
		os.Mkdir(in("dir"), 0o700),
		os.WriteFile(in("file"), []byte("file"), 0o600),
		os.Symlink("file", in("link")),
		os.Symlink("dir", in("dirlink")),
		unix.Mkfifo(in("fifo"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	var h handle
	h.reset(root, "", nil, true)
	defer h.close()
	for name, want := range map[string]error{
		"file": nil, "link": unix.ELOOP, "fifo": errNotRegular, "dir": errNotRegular, "missing": unix.ENOENT,
	} {
		f, _, err := h.open(name)
		if err == nil {
			_ = f.Close()
		}
		if !errors.Is(err, want) || want != nil && !gone(err) {
			t.Errorf("open %s: %v", name, err)
		}
	}
	h.looksAtDirectories(t, in)
}

func (h *handle) looksAtDirectories(t *testing.T, in func(string) string) {
	t.Helper()
	for name, want := range map[string]bool{"dir": true, "dirlink": false, "file": false, "fifo": false, "missing": false} {
		var below handle
		below.reset(in(name), name, h, true)
		if err := below.ensure(); (err == nil) != want || err != nil && !gone(err) {
			t.Errorf("open the directory %s: %v", name, err)
		}
		below.close()
		for _, much := range []bool{true, false} {
			_, k, err := below.glance(much)
			if isDir := err == nil && k == directory; isDir != want || err != nil && !gone(err) {
				t.Errorf("glance at %s: %v, %v", name, k, err)
			}
			below.close()
		}
	}
}
