package diff_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"codeloops/internal/diff"
)

// keeping is a repository with a tree that keeps its directories open.
func keeping(t *testing.T) (*sandbox, *diff.Tree) {
	t.Helper()
	s := newRepo(t)
	for _, name := range []string{"a/b/c/f", "a/b/g", "a/x/c/f", "a/x/g", "h/i/j"} {
		s.write(name, name+"\n")
	}
	s.commit("first")
	settle()
	tree := s.begin()
	for range 2 {
		newOracle(s).capture(tree)
	}
	if len(s.openDirs()) == 0 {
		t.Skip("no directory stays open on this file system")
	}
	return s, tree
}

// openDirs returns the directories of the work tree that this process has open.
func (s *sandbox) openDirs() (names []string) {
	s.t.Helper()
	const all = "/proc/self/fd"
	entries, err := os.ReadDir(all)
	s.must(err)
	for _, e := range entries {
		target, err := os.Readlink(filepath.Join(all, e.Name()))
		if name, inside := strings.CutPrefix(target, s.root); err == nil && inside && !strings.HasPrefix(name+"/", "/.git/") {
			names = append(names, name)
		}
	}
	return names
}

// TestKeptDirectories: a directory that stays open is taken for the one at its path
// only as long as it is that.
func TestKeptDirectories(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]struct {
		do   func(*sandbox)
		want string
	}{
		"written below": {func(s *sandbox) { s.write("a/b/c/f", "new\n") }, "M a/b/c/f\n"},
		"added below":   {func(s *sandbox) { s.write("a/b/c/new", "new\n") }, "A a/b/c/new\n"},
		"exchanged": {func(s *sandbox) {
			s.must(unix.Renameat2(unix.AT_FDCWD, s.path("a/b"), unix.AT_FDCWD, s.path("a/x"), unix.RENAME_EXCHANGE))
		}, "M a/b/c/f\nM a/b/g\nM a/x/c/f\nM a/x/g\n"},
		"another above": {func(s *sandbox) {
			s.must(os.Rename(s.path("a"), filepath.Join(s.base, "old")))
			s.write("a/b/c/f", "new\n")
			s.write("a/b/g", "a/b/g\n")
		}, "M a/b/c/f\nD a/x/c/f\nD a/x/g\n"},
		"a link above": {func(s *sandbox) {
			s.must(os.Rename(s.path("a"), filepath.Join(s.base, "old")))
			s.link(filepath.Join(s.base, "old"), "a")
		}, "A a\nD a/b/c/f\nD a/b/g\nD a/x/c/f\nD a/x/g\n"},
		"moved elsewhere": {func(s *sandbox) {
			s.must(os.Rename(s.path("a/b"), s.path("k")))
			s.must(os.Rename(s.path("k/c"), s.path("h/i/c")))
		}, "D a/b/c/f\nD a/b/g\nA h/i/c/f\nA k/g\n"},
		"a file above": {func(s *sandbox) { s.remove("h"); s.write("h", "h\n") }, "A h\nD h/i/j\n"},
		"another work tree": {func(s *sandbox) {
			s.must(os.Rename(s.root, s.root+"-old"))
			s.must(os.Mkdir(s.root, 0o755))
			s.must(os.Rename(s.root+"-old/.git", s.path(".git")))
			s.write("a/b/g", "a/b/g\n")
		}, "D a/b/c/f\nD a/x/c/f\nD a/x/g\nD h/i/j\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, tree := keeping(t)
			o := newOracle(s)
			step.do(s)
			for range 3 { // the last ones by what is open by then
				if got := summary(o.capture(tree)); got != step.want {
					t.Errorf("captured %q, want %q", got, step.want)
				}
				settle()
			}
		})
	}
}

// TestKeptOfALostRepository: that directories are open keeps no repository alive that
// is gone, and says nothing of another one in its place.
func TestKeptOfALostRepository(t *testing.T) {
	t.Parallel()
	s, tree := keeping(t)
	s.must(os.Rename(s.path(".git"), filepath.Join(s.base, "away")))
	for range 2 {
		if c, err := tree.Capture(t.Context()); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("captured %q, error %v", summary(c), err)
		}
	}
	s.git("init", "-q")
	s.write("a/b/c/new", "new\n")
	for range 3 {
		c, err := tree.Capture(t.Context())
		s.must(err)
		if got, want := summary(c), "A a/b/c/new\n"; got != want {
			t.Errorf("captured %q, want %q", got, want)
		}
		settle()
	}
}

// TestKeptAreClosed: what is gone does not stay open, and nothing does for longer
// than the tree.
func TestKeptAreClosed(t *testing.T) {
	t.Parallel()
	s, tree := keeping(t)
	if got := len(s.openDirs()); got != 7 {
		t.Errorf("%d directories stay open: %q", got, s.openDirs())
	}
	rest := func(want int) {
		t.Helper()
		for range 5 {
			settle()
			s.must(second(tree.Capture(t.Context())))
		}
		if got := s.openDirs(); len(got) != want {
			t.Errorf("%d directories stay open, want %d: %q", len(got), want, got)
		}
	}
	s.write("a/x/new", "new\n")
	rest(7)
	s.remove("a/b")
	s.must(os.Rename(s.path("h"), filepath.Join(s.base, "h")))
	rest(3)
	s.must(tree.Baseline(t.Context()))
	if got := s.openDirs(); got != nil {
		t.Errorf("open after a scan that knows nothing: %q", got)
	}
	rest(3)
	s.must(tree.Close())
	if got := s.openDirs(); got != nil {
		t.Errorf("open after the end: %q", got)
	}
}

// TestKeptInScansThatEnd: wherever a scan ends, nothing that it has opened is lost.
func TestKeptInScansThatEnd(t *testing.T) {
	t.Parallel()
	s, tree := keeping(t)
	s.must(tree.Close())
	for looks := range int64(20) {
		tree := s.begin()
		s.append("a/b/g", "more\n")
		s.append("a/x/c/f", "more\n")
		_, err := tree.Capture(&brief{Context: t.Context(), looks: looks})
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		s.must(tree.Close())
		if got := s.openDirs(); got != nil {
			t.Errorf("after %d looks, open: %q", looks, got)
		}
	}
}

// TestKeptAreClosedOnce: a descriptor that a directory had is another file's as soon
// as it is closed.
func TestKeptAreClosedOnce(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	var opened []*os.File // while directories are listed
	var mu sync.Mutex
	now, armed := s.now, false
	s.now = func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		for range 50 {
			if !armed {
				break
			}
			f, err := os.Open(os.DevNull)
			s.must(err)
			opened = append(opened, f)
		}
		return now()
	}
	s.write("a/b/f", "f\n")
	s.commit("first")
	settle()
	tree := s.begin()
	for range 2 {
		s.must(second(tree.Capture(t.Context())))
	}
	s.write("a/b/new", "new\n")
	armed = true
	s.must(second(tree.Capture(t.Context())))
	armed = false
	if len(opened) == 0 {
		t.Error("nothing was opened meanwhile")
	}
	for _, f := range opened {
		if err := f.Close(); err != nil {
			t.Errorf("closed by somebody else: %v", err)
		}
	}
}

// TestKeptUnreadable: a directory that comes into the place of an open one is looked
// at itself, though nothing more is known of it at first than of that one.
func TestKeptUnreadable(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		asNobody(t)
		return
	}
	s, tree := keepingHinted(t)
	s.must(os.Rename(s.path("d/e"), filepath.Join(s.base, "old")))
	s.write("d/e/c", "new\n")
	s.chmod("d/e", 0)
	settle()
	c, err := tree.Recapture(t.Context()) // which does not look for all that is open
	s.must(err)
	if !c.Empty() || len(c.Warnings) != 1 {
		t.Errorf("captured %q, warnings %q", summary(c), c.Warnings)
	}
	s.chmod("d/e", 0o755)
	c, err = tree.Capture(t.Context())
	s.must(err)
	if got, want := summary(c), "M d/e/c\n"; got != want || c.Warnings != nil {
		t.Errorf("captured %q, want %q, warnings %q", got, want, c.Warnings)
	}
}

// TestKeptLetGo: the system says that a root is gone for good, on which hints rely,
// only when nothing that was in it is open any more.
func TestKeptLetGo(t *testing.T) {
	t.Parallel()
	s, tree := keepingHinted(t)
	before := s.openDirs()
	s.again(tree, "")
	if got := s.openDirs(); len(got) != len(before) {
		t.Errorf("open after a look by hints: %q, before %q", got, before)
	}
	other := filepath.Join(s.base, "other")
	s.must(exec.CommandContext(t.Context(), "cp", "-a", s.root, other).Run())
	s.must(os.RemoveAll(filepath.Join(other, "d/e")))
	s.remove("")
	s.must(os.Rename(other, s.root))
	s.again(tree, "D d/e/c\n")
	for _, content := range []string{"second\n", "third\n"} {
		s.write("a", content)
		s.again(tree, "M a\nD d/e/c\n")
	}
}

// keepingHinted is keeping for a tree of which the hints hold. No file has ignore
// rules, which would have all looked at when they change.
func keepingHinted(t *testing.T) (*sandbox, *diff.Tree) {
	t.Helper()
	s, tree := hinting(t, func(s *sandbox) { s.remove(".gitignore"); s.remove(".git/info") })
	for range 3 {
		settle()
		s.must(second(tree.Capture(t.Context())))
	}
	if len(s.openDirs()) == 0 {
		t.Skip("no directory stays open on this file system")
	}
	return s, tree
}

// TestKeptUnderMounts runs itself where it may mount. What is mounted over a
// directory changes no time; and what would stay open in it could not be unmounted.
func TestKeptUnderMounts(t *testing.T) {
	t.Parallel()
	if !underOwnMounts(t, mayMount) {
		return
	}
	s, tree := keeping(t)
	o := newOracle(s)
	other := filepath.Join(s.base, "other")
	s.must(os.MkdirAll(filepath.Join(other, "c/d"), 0o755))
	s.must(os.WriteFile(filepath.Join(other, "c/d/f"), []byte("new\n"), 0o644))
	check := func(what, want string) {
		t.Helper()
		for range 3 {
			if got := summary(o.capture(tree)); got != want {
				t.Errorf("%s: captured %q, want %q", what, got, want)
			}
			settle()
		}
	}
	check("nothing is mounted", "")
	mount(t, other, s.path("a/b"))
	check("a directory is mounted", "A a/b/c/d/f\nD a/b/c/f\nD a/b/g\n")
	s.must(unix.Unmount(s.path("a/b"), 0))
	check("it is no longer mounted", "")
	s.must(unix.Mount("tmpfs", s.path("a"), "tmpfs", 0, ""))
	s.write("a/new/f", "new\n")
	check("a file system is mounted", "D a/b/c/f\nD a/b/g\nA a/new/f\nD a/x/c/f\nD a/x/g\n")
	s.must(unix.Unmount(s.path("a"), 0))
	check("it is no longer mounted", "")
}
