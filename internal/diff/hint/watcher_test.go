//go:build linux

package hint

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"codeloops/internal/diff/ground"
)

// A tree is a directory that is watched.
type tree struct {
	t    *testing.T
	root string
	*Watcher
}

// watched makes directories and watches them, besides the root.
func watched(t *testing.T, dirs ...string) *tree {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w, err := New(root)
	skipUnallowed(t, err)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	tr := &tree{t: t, root: root, Watcher: w}
	for _, dir := range dirs {
		tr.must(os.MkdirAll(tr.path(dir), 0o755))
	}
	w.Prepare(slices.Values(append([]string{""}, dirs...)))
	for !w.Ready() {
		time.Sleep(time.Millisecond)
	}
	tr.want()
	return tr
}

// skipUnallowed skips a test where the file system is not one of which changes are
// told, or other programs of the user watch as much as one user may.
func skipUnallowed(t *testing.T, err error) {
	t.Helper()
	for _, why := range []error{ground.ErrFileSystem, unix.EMFILE, unix.ENOSPC} {
		if errors.Is(err, why) {
			t.Skip(err)
		}
	}
}

func (t *tree) path(name string) string { return filepath.Join(t.root, name) }

func (t *tree) must(err error) {
	t.t.Helper()
	if err != nil {
		t.t.Fatal(err)
	}
}

func (t *tree) write(name, content string) {
	t.t.Helper()
	t.must(os.WriteFile(t.path(name), []byte(content), 0o644))
}

// want is what has changed since it was asked last.
func (t *tree) want(dirs ...string) {
	t.t.Helper()
	changed, err := t.Changed()
	skipUnallowed(t.t, err)
	t.must(err)
	if got := slices.Sorted(maps.Keys(changed)); !slices.Equal(got, dirs) {
		t.t.Errorf("changed: %q, want %q", got, dirs)
	}
}

func TestChanges(t *testing.T) {
	t.Parallel()
	w := watched(t, "a/", "a/b/", "c/")
	for _, c := range []struct {
		name string
		do   func() error
		want []string
	}{
		{"create", func() error { return os.WriteFile(w.path("a/b/f"), nil, 0o644) }, []string{"", "a/", "a/b/"}},
		{"append", func() error { return appendTo(w.path("a/b/f")) }, []string{"", "a/", "a/b/"}},
		{"read", func() error { _, err := os.ReadFile(w.path("a/b/f")); return err }, nil},
		{"list", func() error { _, err := os.ReadDir(w.path("a/b")); return err }, nil},
		{"chmod", func() error { return os.Chmod(w.path("a/b/f"), 0o755) }, []string{"", "a/", "a/b/"}},
		{"times", func() error { return os.Chtimes(w.path("a/b/f"), time.Time{}, time.Unix(1, 0)) }, []string{"", "a/", "a/b/"}},
		{"truncate", func() error { return os.Truncate(w.path("a/b/f"), 9) }, []string{"", "a/", "a/b/"}},
		{"mapping", func() error { return throughMapping(w.path("a/b/f")) }, []string{"", "a/", "a/b/"}},
		{"move", func() error { return os.Rename(w.path("a/b/f"), w.path("c/f")) }, []string{"", "a/", "a/b/", "c/"}},
		{"link", func() error { return os.Symlink("f", w.path("c/l")) }, []string{"", "c/"}},
		{"name", func() error { return os.Link(w.path("c/f"), w.path("c/g")) }, []string{"", "c/"}},
		{"remove", func() error { return os.Remove(w.path("c/l")) }, []string{"", "c/"}},
		{"chmod of a directory", func() error { return os.Chmod(w.path("a/b"), 0o700) }, []string{"", "a/", "a/b/"}},
		{"outside", func() error { return os.MkdirAll(filepath.Join(t.TempDir(), "a/b"), 0o755) }, nil},
	} {
		if err := c.do(); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		t.Log(c.name)
		w.want(c.want...)
	}
}

func appendTo(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString("more\n")
	return err
}

// throughMapping changes a file without a write.
func throughMapping(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	b, err := unix.Mmap(int(f.Fd()), 0, 4, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return err
	}
	b[0] ^= 1
	return unix.Munmap(b)
}

// TestMovedDirectories: a watch goes with its directory, whose name another one
// may have taken.
func TestMovedDirectories(t *testing.T) {
	t.Parallel()
	w := watched(t, "a/", "a/x/", "b/", "b/x/")
	w.must(unix.Renameat2(unix.AT_FDCWD, w.path("a"), unix.AT_FDCWD, w.path("b"), unix.RENAME_EXCHANGE))
	w.write("a/x/f", "in what was b\n")
	w.want("", "a/", "a/x/", "b/", "b/x/")
	w.write("a/x/f", "nobody watches\n")
	w.want()
	for _, dir := range []string{"a/", "a/x/", "b/", "b/x/"} {
		w.Watch(dir)
	}
	w.write("a/x/f", "again\n")
	w.want("", "a/", "a/x/")
	w.must(os.RemoveAll(w.path("a")))
	w.want("", "a/", "a/x/")
	w.must(os.MkdirAll(w.path("a/x"), 0o755))
	w.want("")
}

// TestMovedBeforeTold: a directory is watched at its new place before it is
// known to have left the old one.
func TestMovedBeforeTold(t *testing.T) {
	t.Parallel()
	w := watched(t, "a/", "a/x/")
	w.must(os.Rename(w.path("a"), w.path("b")))
	w.Watch("b/")
	w.Watch("b/x/")
	w.want("", "b/", "b/x/")
	w.Watch("b/")
	w.Watch("b/x/")
	w.write("b/x/f", "f\n")
	w.want("", "b/", "b/x/")
}

func TestUnsure(t *testing.T) {
	t.Parallel()
	w := watched(t, "a/", "b/")
	w.Unsure("a/")
	w.want("", "a/")
	w.want("", "a/")
}

func TestLost(t *testing.T) {
	t.Parallel()
	limit := func(t *testing.T) int {
		var n int
		content, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events")
		if err == nil {
			n, err = strconv.Atoi(strings.TrimSpace(string(content)))
		}
		if err != nil {
			t.Skip(err)
		}
		return n
	}
	for name, lose := range map[string]func(*testing.T, *tree){
		"overflow": func(t *testing.T, w *tree) {
			for i := range limit(t) {
				w.must(os.Chmod(w.path([]string{"a", "b"}[i%2]), 0o755))
			}
		},
		"root moved":   func(_ *testing.T, w *tree) { w.must(os.Rename(w.root, w.root+"-")) },
		"root removed": func(_ *testing.T, w *tree) { w.must(os.RemoveAll(w.root)) },
		"closed":       func(_ *testing.T, w *tree) { w.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := watched(t, "a/", "b/")
			lose(t, w)
			for range 2 {
				if dirs, err := w.Changed(); !errors.Is(err, ErrLost) {
					t.Errorf("changed: %v, %v", dirs, err)
				}
			}
			w.Watch("a/")
		})
	}
}

// TestTooMany: no more than half of what the user may watch is taken.
func TestTooMany(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	w, err := New(root)
	if err != nil {
		t.Skip(err)
	}
	defer w.Close()
	w.Prepare(func(yield func(string) bool) {
		for yield("") { // one without end
		}
	})
	for !w.Ready() {
		time.Sleep(time.Millisecond)
	}
	if _, err := w.Changed(); !errors.Is(err, ErrUnavailable) {
		t.Errorf("got %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("\x01\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x04\x00\x00\x00a\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, rest, ok := parse(b)
		if !ok {
			return
		}
		if len(rest)+unix.SizeofInotifyEvent+len(e.name) > len(b) {
			t.Errorf("%d bytes left of %d after %+v", len(rest), len(b), e)
		}
		if again, _, _ := parse(b[:len(b)-len(rest)]); !reflect.DeepEqual(again, e) {
			t.Errorf("%+v, then %+v", e, again)
		}
	})
}
