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

// TestHandle: opening something that has replaced a listed file or directory neither
// blocks nor follows a link.
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
	h, err := open(root, nil, "")
	must(t, err)
	defer h.close()
	for name, want := range map[string]error{
		"file": nil, "link": unix.ELOOP, "fifo": errNotRegular, "dir": errNotRegular, "missing": unix.ENOENT,
	} {
		f, _, err := h.openFile(name)
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
		below, err := open(in(name), h, name)
		if (err == nil) != want || err != nil && !gone(err) {
			t.Errorf("open the directory %s: %v", name, err)
		}
		if err == nil {
			below.close()
		}
	}
}

// TestHandleReach: entries below closed directories are opened from the last open
// directory, not by a path into which another process may put a symlink.
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
	h, err := open(in("tree"), nil, "")
	must(t, err)
	defer h.close()
	for _, name := range []string{"a", "b"} {
		h, err = open("", h, name)
		must(t, err)
		h.close()
	}
	if got := h.finds("c"); got != "ours" {
		t.Errorf("found %q", got)
	}
	must(t, os.Rename(in("tree/a"), in("was")))
	must(t, os.Symlink("../elsewhere", in("tree/a")))
	if got := h.finds("c"); got != "" {
		t.Errorf("found %q behind a symlink", got)
	}
}

// finds returns the content of the file in a subdirectory.
func (h *handle) finds(name string) string {
	below, err := open("", h, name)
	if err != nil {
		return ""
	}
	defer below.close()
	f, _, err := below.openFile("file")
	if err != nil {
		return ""
	}
	defer f.Close()
	content, _ := io.ReadAll(f)
	return string(content)
}
