package scan

import (
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestKept: each directory is open once, by what was last found in it, and stays so.
func TestKept(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if !clockOf(root).local {
		t.Skip("no directory stays open on this file system")
	}
	write := func(name, content string) {
		t.Helper()
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a/b/f", "f\n")
	write("a/c/f", "f\n")
	s := scannerOf(root, time.Now().Add(time.Minute))
	s.Kept = &Kept{}
	var last *Dir
	look := func() []int {
		t.Helper()
		state, err := s.Scan(t.Context(), Known{Last: last, Listed: last != nil, Same: last != nil})
		if err != nil {
			t.Fatal(err)
		}
		last = state.Root
		return s.Kept.check(t, last)
	}
	if got := look(); len(got) > 0 {
		t.Errorf("the first scan of a process keeps %d directories", len(got))
	}
	first := look()
	if len(first) != 3 {
		t.Fatalf("%d directories are kept", len(first))
	}
	write("a/b/f", "longer\n")
	for range 3 {
		if got := look(); !slices.Equal(got, first) {
			t.Errorf("open are %d, before %d", got, first)
		}
	}
	s.Kept.Close()
	if got := s.Kept.check(t, last); len(got) > 0 {
		t.Errorf("%d are kept by what is closed", len(got))
	}
	if look(); len(look()) != 3 {
		t.Error("what was closed does not begin again")
	}
	s.Kept.Close()
}

// keepingPlain returns what looks at a work tree of plain directories and wants no
// more to be open than so many of them.
func keepingPlain(t *testing.T, dirs ...string) (root string, kept *Kept, look func(most int) (open int)) {
	t.Helper()
	root, last, later := plainTree(t, dirs...)
	if !clockOf(root).local {
		t.Skip("no directory stays open on this file system")
	}
	s := scannerOf(root, later)
	s.Kept = &Kept{}
	t.Cleanup(s.Kept.Close)
	return root, s.Kept, func(most int) int {
		t.Helper()
		state, err := s.Scan(t.Context(), again(last))
		must(t, err)
		last = state.Root
		open := len(s.Kept.check(t, last))
		if open > most {
			t.Errorf("%d directories are open, want %d at most", open, most)
		}
		return open
	}
}

// TestKeptOfNothing: what is gone is closed also when nothing else was open.
func TestKeptOfNothing(t *testing.T) {
	t.Parallel()
	root, _, look := keepingPlain(t, "a")
	if look(1) != 1 {
		t.Error("nothing is kept")
	}
	must(t, os.RemoveAll(filepath.Join(root, "a")))
	look(0)
}

// TestKeptQuiet: what is not looked at stays open.
func TestKeptQuiet(t *testing.T) {
	t.Parallel()
	root, last, later := plainTree(t, "a", "b", "c")
	if !clockOf(root).local {
		t.Skip("no directory stays open on this file system")
	}
	s := scannerOf(root, later)
	s.Kept = &Kept{}
	t.Cleanup(s.Kept.Close)
	for _, quiet := range []func(string) bool{nil, func(dir string) bool { return dir != "" && dir != "a/" }} {
		known := again(last)
		known.Quiet = quiet
		state, err := s.Scan(t.Context(), known)
		must(t, err)
		last = state.Root
		if open := s.Kept.check(t, last); len(open) != 3 {
			t.Errorf("%d directories are open", len(open))
		}
		must(t, os.WriteFile(filepath.Join(root, "a/f"), []byte("changed"), 0o600))
	}
}

// TestKeptAtMost: no more directories are open than may be, however many scans there
// are; each goroutine may open one at the same moment.
func TestKeptAtMost(t *testing.T) {
	t.Parallel()
	const may = 2
	most := may + runtime.GOMAXPROCS(0) - 1
	dirs := numbered(2 * most)
	root, kept, look := keepingPlain(t, dirs...)
	if !kept.open(root) {
		t.Fatal("nothing can be kept")
	}
	kept.most = may
	for range dirs {
		if open := look(most); open < may {
			t.Errorf("only %d directories are open", open)
		}
	}
}

// check wants what is open to be some of what is below root, and returns the
// descriptors.
func (k *Kept) check(t *testing.T, root *Dir) (open []int) {
	t.Helper()
	dirs := maps.Clone(k.dirs)
	var below func(d *Dir)
	below = func(d *Dir) {
		for _, sub := range d.Dirs {
			if is := dirs[sub]; is != nil {
				var st unix.Stat_t
				if err := unix.Fstat(is.fd, &st); err != nil || st.Ino != sub.listing.stat.Inode {
					t.Errorf("%s is open as %d, which is inode %d: %v", sub.Name, is.fd, st.Ino, err)
				}
				open = append(open, is.fd)
				delete(dirs, sub)
			}
			below(sub)
		}
	}
	below(root)
	for d := range dirs {
		t.Errorf("%s is open, and nobody has found it", d.Name)
	}
	slices.Sort(open)
	if len(slices.Compact(slices.Clone(open))) != len(open) {
		t.Errorf("open twice: %d", open)
	}
	return open
}
