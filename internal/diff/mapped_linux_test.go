package diff_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"codeloops/internal/diff"
	"codeloops/internal/diff/scan"
)

// A mapped file is written through a mapping that stays open.
type mapped struct {
	t    *testing.T
	path string
	text []byte
}

// mapping maps a file and reads from it.
func mapping(t *testing.T, path string) *mapped {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() // the mapping stays open
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	text, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Munmap(text) })
	_ = string(text)
	return &mapped{t, path, text}
}

// write writes one byte, and reports whether the file's stat shows it.
func (m *mapped) write(at int, b byte) (told bool) {
	m.t.Helper()
	before := m.stat()
	m.text[at] = b
	return m.stat() != before
}

func (m *mapped) stat() unix.Stat_t {
	m.t.Helper()
	var st unix.Stat_t
	if err := unix.Stat(m.path, &st); err != nil {
		m.t.Fatal(err)
	}
	return st
}

// memory returns a repository on a file system in memory. It skips the test if there is
// none.
func memory(t *testing.T) *sandbox {
	t.Helper()
	s := newRepoInMemory(t)
	if !strings.HasPrefix(s.base, "/dev/shm/") {
		t.Skip("there is no /dev/shm")
	}
	s.clock = nil
	return s
}

// captured returns the patch and warnings of a capture as text.
func (s *sandbox) captured(tree *diff.Tree) string {
	s.t.Helper()
	c, err := tree.Capture(s.t.Context())
	s.must(err)
	return c.Patch()
}

// TestMappedInMemory: a write through a mapping is captured on a file system in memory,
// which keeps no time of such writes.
func TestMappedInMemory(t *testing.T) {
	t.Parallel()
	s := memory(t)
	s.write("f", "good\n")
	s.commit("first")
	settle()
	m := mapping(t, s.path("f"))
	tree := s.begin()
	if got := s.captured(tree); got != "" {
		t.Fatal(got)
	}
	for _, b := range []byte("abc") {
		if m.write(0, b) {
			t.Log("the stat shows the write")
		}
		if got := s.captured(tree); !strings.Contains(got, "+"+string(b)+"ood") {
			t.Errorf("after %q was written: %q", b, got)
		}
	}
	m.write(0, 'g')
	if got := s.captured(tree); got != "" {
		t.Errorf("written back: %q", got)
	}
}

// TestMappedBefore: the baseline does not trust the index on a file system in memory.
func TestMappedBefore(t *testing.T) {
	t.Parallel()
	s := memory(t)
	s.write("f", "good\n")
	s.commit("first")
	settle()
	s.git("update-index", "--refresh")
	mapping(t, s.path("f")).write(0, 'x')
	tree := s.begin()
	s.write("f", "good\n")
	if got := s.captured(tree); !strings.Contains(got, "-xood\n+good") {
		t.Errorf("captured %q", got)
	}
}

// TestMappedRules: ignore rules and settings are read again at each capture on a file
// system in memory.
func TestMappedRules(t *testing.T) {
	t.Parallel()
	s := memory(t)
	s.write("f", "f\n")
	s.commit("first")
	s.write(".git/info/exclude", "#ew\n")
	s.git("config", "filter.x.clean", "cat")
	s.now = func() time.Time { return time.Now().Add(time.Hour) } // as if the files were old
	tree := s.begin()
	config, err := os.ReadFile(s.path(".git/config"))
	s.must(err)
	exclude, settings := mapping(t, s.path(".git/info/exclude")), mapping(t, s.path(".git/config"))
	if got := s.captured(tree); got != "" {
		t.Fatal(got)
	}
	exclude.write(0, 'n')
	settings.write(strings.Index(string(config), "clean = cat")+len("clean = "), 'r')
	c, err := tree.Capture(t.Context())
	s.must(err)
	if told := strings.Join(c.Warnings, "\n"); !strings.Contains(told, ".git/info/exclude") || !strings.Contains(told, "filter.x.clean") {
		t.Errorf("warnings %q", told)
	}
}

// TestMappedOnDisk: a changed file is read at each capture while someone may have mapped
// it, because a write through the mapping changes no file time until the system writes
// the page to disk.
func TestMappedOnDisk(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	if !scan.ClockOf(s.root).Keeps {
		t.Skip("on this file system everything is read")
	}
	s.write("f", "good\n")
	s.write("g", "good\n")
	s.commit("first")
	settle()
	tree := s.begin()
	settle()
	m := mapping(t, s.path("f"))
	untold := false
	for _, b := range []byte("abc") {
		if m.write(0, b) && b == 'a' {
			t.Log("the stat shows the first write")
		} else if b != 'a' {
			untold = true
		}
		settle()
		for range 2 {
			if got := s.captured(tree); !strings.Contains(got, "+"+string(b)+"ood") {
				t.Errorf("after %q was written: %q", b, got)
			}
		}
	}
	if !untold {
		t.Log("every write changes the file times here")
	}
}

// TestMappedAndResumed: a write through a mapping is captured in a resumed session, too.
func TestMappedAndResumed(t *testing.T) {
	t.Parallel()
	s := memory(t)
	s.write("f", "good\n")
	s.commit("first")
	tree := s.begin()
	base, err := tree.Checkpoint(t.Context(), tree.BaseState(), "s/0", "base")
	s.must(err)
	s.must(tree.Close())
	again := s.open()
	s.must(again.Resume(t.Context(), base))
	m := mapping(t, s.path("f"))
	for _, b := range []byte("ab") {
		m.write(0, b)
		if got := s.captured(again); !strings.Contains(got, "+"+string(b)+"ood") {
			t.Errorf("after %q was written: %q", b, got)
		}
	}
}

// TestKeeps: an overlay keeps times if its upper file system does.
func TestKeeps(t *testing.T) {
	t.Parallel()
	if !underOwnMounts(t, mayMount) {
		return
	}
	s := newSandbox(t)
	inMemory := filepath.Join(s.base, "memory")
	s.must(os.Mkdir(inMemory, 0o755))
	s.must(unix.Mount("tmpfs", inMemory, "tmpfs", 0, ""))
	t.Cleanup(func() { _ = unix.Unmount(inMemory, unix.MNT_DETACH) })
	onDisk := filepath.Join(s.base, "disk")
	s.must(os.Mkdir(onDisk, 0o755))
	if scan.ClockOf(inMemory).Keeps || scan.ClockOf("/proc").Keeps || scan.ClockOf(filepath.Join(s.base, "none")).Keeps {
		t.Error("a file system in memory, or none at all, is said to keep times")
	}
	for _, on := range []string{inMemory, onDisk} {
		at := filepath.Join(on, "at")
		for _, dir := range []string{"lower", "upper", "scratch", "at"} {
			s.must(os.Mkdir(filepath.Join(on, dir), 0o755))
		}
		layers := "lowerdir=" + on + "/lower,upperdir=" + on + "/upper,workdir=" + on + "/scratch,userxattr"
		if err := unix.Mount("overlay", at, "overlay", 0, layers); err != nil {
			t.Skipf("no overlay: %v", err)
		}
		want := scan.ClockOf(on).Keeps
		var st unix.Statfs_t
		s.must(unix.Statfs(on, &st))
		if got := scan.ClockOf(at).Keeps; got != want {
			t.Errorf("an overlay on %x keeps times: %t, want %t", st.Type, got, want)
		}
		s.must(unix.Unmount(at, 0))
	}
}
