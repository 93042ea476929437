//go:build unix

package scan

import (
	"errors"
	"io"
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
	h.reset(root, "", nil)
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
		below.reset(in(name), name, h)
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

// TestHandleReach: what is below directories that are not open is reached from the
// last one that is, not by a path in which another process puts a symlink.
func TestHandleReach(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	in := func(name string) string { return filepath.Join(root, name) }
	for _, err := range []error{
		os.MkdirAll(in("tree/a/b/c"), 0o700),
		os.WriteFile(in("tree/a/b/c/file"), []byte("ours"), 0o600),
		os.MkdirAll(in("elsewhere/b/c"), 0o700),
		os.WriteFile(in("elsewhere/b/c/file"), []byte("not ours"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, open := range []bool{true, false} { // the root
		var h [4]handle
		h[0].reset(in("tree"), "", nil)
		if err := h[0].ensure(); err != nil {
			t.Fatal(err)
		}
		if !open {
			h[0].close()
		}
		for i, name := range []string{"a", "b", "c"} {
			h[i+1].reset("", name, &h[i])
		}
		if got := h[3].finds(); got != "ours" {
			t.Errorf("with the root open, %t: found %q", open, got)
		}
		for _, err := range []error{os.Rename(in("tree/a"), in("was")), os.Symlink("../elsewhere", in("tree/a"))} {
			if err != nil {
				t.Fatal(err)
			}
		}
		if got := h[3].finds(); got != "" {
			t.Errorf("with the root open, %t: found %q behind a symlink", open, got)
		}
		for _, err := range []error{os.Remove(in("tree/a")), os.Rename(in("was"), in("tree/a"))} {
			if err != nil {
				t.Fatal(err)
			}
		}
		h[0].close()
	}
}

// finds returns what is in the file of the directory, if all ways to look at it
// find it.
func (h *handle) finds() string {
	for _, much := range []bool{true, false} {
		_, k, err := h.glance(much)
		h.close()
		if err != nil || k != directory {
			return ""
		}
	}
	f, _, err := h.open("file")
	if err != nil {
		return ""
	}
	defer f.Close()
	defer h.close()
	content, _ := io.ReadAll(f)
	return string(content)
}
