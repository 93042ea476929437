//go:build unix

package diff_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"codeloops/internal/diff"
)

func TestSpecialFiles(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.write("f", "f\n")
	s.write("d/a", "a\n")
	s.must(syscall.Mkfifo(s.path("before"), 0o644))
	s.commit("first")
	tree := s.begin()
	s.remove("f")
	s.must(syscall.Mkfifo(s.path("f"), 0o644))
	s.must(syscall.Mkfifo(s.path("d/.gitignore"), 0o644))
	s.write("d/new", "new\n")
	var listen net.ListenConfig
	socket, err := listen.Listen(t.Context(), "unix", s.path("s"))
	s.must(err)
	defer socket.Close()
	c, err := tree.Capture(t.Context())
	s.must(err)
	if got, want := summary(c), "A d/new\nD f\n"; got != want {
		t.Errorf("captured %q, want %q", got, want)
	}
}

// TestPipeForDirectory: a pipe in the place of a directory with ignore rules is not waited for.
func TestPipeForDirectory(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.write("d/.gitignore", "x\n")
	s.write("d/f", "f\n")
	tree := s.begin()
	s.must(os.RemoveAll(s.path("d")))
	s.must(syscall.Mkfifo(s.path("d"), 0o644))
	c, err := tree.Capture(t.Context())
	s.must(err)
	if got, want := summary(c), "D d/.gitignore\nD d/f\n"; got != want {
		t.Errorf("captured %q, want %q", got, want)
	}
}

// TestUnreadable: an unreadable file or directory is reported, and keeps its last known
// state. As root, who can read everything, the test runs itself as another user.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		asNobody(t)
		return
	}
	s := newRepo(t)
	s.write("f", "f\n")
	s.write("d/a", "a\n")
	s.write("y/f", "f\n")
	s.gitIn(s.path("y"), "init", "-q", "inner")
	s.gitIn(s.path("y/inner"), "commit", "-q", "--allow-empty", "-m", "inner")
	s.commit("first")
	settle()
	tree := s.begin()
	s.write("f", "changed\n")
	s.write("d/b", "b\n")
	before, err := tree.Capture(t.Context())
	s.must(err)
	s.write("f", "changed again\n")
	s.write("x/new", "new\n")
	s.write("e/new", "new\n")
	for _, name := range []string{"f", "d", "x/new", "e", "y/f"} {
		s.chmod(name, 0)
	}
	t.Cleanup(func() { s.chmod("d", 0o755); s.chmod("e", 0o755) })
	settle()
	after, err := tree.Capture(t.Context())
	s.must(err)
	if after.Patch() != before.Patch() {
		t.Errorf("captured %s, want what was last known: %s", after.Patch(), before.Patch())
	}
	want := []string{"cannot read d", "cannot read e", "cannot read f", "cannot read x/new", "cannot read y/f"}
	for i, w := range after.Warnings {
		if i >= len(want) || !strings.HasPrefix(w, want[i]+": permission denied") {
			t.Errorf("warning %q", w)
		}
	}
	if len(after.Warnings) != len(want) {
		t.Errorf("warnings %q", after.Warnings)
	}
	s.readableAgain(tree)
}

// readableAgain makes everything readable, and checks that it is captured, although the
// parent directories are unchanged.
func (s *sandbox) readableAgain(tree *diff.Tree) {
	s.t.Helper()
	for _, name := range []string{"d", "e", "f", "x/new", "y/f"} {
		s.chmod(name, 0o755)
	}
	again, err := tree.Capture(s.t.Context())
	s.must(err)
	if got, want := summary(again), "A d/b\nA e/new\nM f\nA x/new\nM y/f\n"; got != want || again.Warnings != nil {
		s.t.Errorf("captured %q, want %q; warnings %q", got, want, again.Warnings)
	}
}

// TestIgnoredIsNotEntered: ignored directories are not read, so that unreadable ones are
// not reported.
func TestIgnoredIsNotEntered(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		asNobody(t)
		return
	}
	s := newRepo(t)
	s.write(".gitignore", "node_modules\n")
	s.write("d/f", "f\n")
	for _, dir := range []string{"node_modules", "d/node_modules"} {
		s.write(dir+"/x/index.js", "x\n")
		s.chmod(dir, 0)
		t.Cleanup(func() { s.chmod(dir, 0o755) })
	}
	tree, o := s.begin(), newOracle(s)
	for range 3 {
		s.append("d/f", "more\n")
		settle()
		c := o.capture(tree)
		if got := summary(c); got != "M d/f\n" || c.Warnings != nil {
			t.Errorf("captured %q, warnings %q", got, c.Warnings)
		}
	}
}

// TestUnreadableAtFirst: a directory that could not be read initially has the state of
// the index. What another process has read without storing it is unknown.
func TestUnreadableAtFirst(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		asNobody(t)
		return
	}
	s := newRepo(t)
	s.write("d/a", "a\n")
	s.write("e/a", "a\n")
	s.write("g", "g\n")
	s.commit("first")
	s.write("u/untracked", "u\n")
	s.chmod("d", 0)
	s.chmod("g", 0)
	t.Cleanup(func() { s.chmod("d", 0o755); s.chmod("e", 0o755); s.chmod("u", 0o755) })
	settle()
	first := s.open()
	s.must(first.Baseline(t.Context()))
	s.chmod("u", 0)
	if c, err := first.Capture(t.Context()); err != nil || !c.Empty() || len(c.Warnings) != 3 {
		t.Errorf("captured %q, warnings %q, %v", summary(c), c.Warnings, err)
	}
	s.chmod("u", 0o755)
	s.chmod("g", 0o644)
	commit, err := first.Checkpoint(t.Context(), first.BaseState(), "test/0", "")
	s.must(err)
	s.write("e/new", "new\n")
	settle()
	c, err := first.Capture(t.Context())
	s.must(err)
	if got := summary(c); got != "A e/new\n" || len(c.Warnings) != 1 {
		t.Errorf("captured %q, warnings %q", got, c.Warnings)
	}
	s.chmod("e", 0)
	c, err = s.resumed(commit).Capture(t.Context())
	s.must(err)
	if !c.Empty() || len(c.Warnings) != 2 {
		t.Errorf("another process captured %q, warnings %q", summary(c), c.Warnings)
	}
	s.chmod("d", 0o755)
	s.write("d/a", "b\n")
	c, err = first.Capture(t.Context())
	s.must(err)
	if got := summary(c); got != "M d/a\nA e/new\n" {
		t.Errorf("captured %q, warnings %q", got, c.Warnings)
	}
}

func asNobody(t *testing.T) {
	t.Helper()
	dir, err := os.MkdirTemp("", "nobody") //nolint:usetesting // nobody may not enter the other
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	const nobody = 65534
	path := filepath.Join(dir, "test")
	// This process does not write the file itself: a child that another test forks
	// meanwhile would hold it open for writing, so that it could not be executed.
	copied := exec.CommandContext(t.Context(), "cp", os.Args[0], path)
	for _, err := range []error{
		copied.Run(),
		os.Chmod(path, 0o755),
		os.Mkdir(filepath.Join(dir, "tmp"), 0o755),
		os.Chmod(dir, 0o755),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chown(filepath.Join(dir, "tmp"), nobody, nobody); err != nil {
		t.Skipf("there is no other user here: %v", err)
	}
	cmd := exec.CommandContext(t.Context(), path, "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + filepath.Join(dir, "tmp")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	testedBy(t, cmd)
}

// TestRacyIndex: an index entry is not trusted if the file may have been written again
// when the index was written. Here it has the file's stat, but other content.
func TestRacyIndex(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]time.Time{
		"in seconds":     time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC),
		"in nanoseconds": time.Date(2020, 1, 1, 0, 0, 0, 123456789, time.UTC),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newRepo(t)
			s.write("f", "new\n")
			s.must(os.Chtimes(s.path("f"), at, at))
			s.lie("echo old", "f")
			s.must(os.Chtimes(s.path(".git/index"), at, at))
			if got := s.git("--no-optional-locks", "status", "--porcelain"); got != "AM f" {
				t.Fatalf("git finds %q", got)
			}
			o, tree := newOracle(s), s.begin()
			if got := tree.BaseState(); got != o.start {
				t.Errorf("the state is %s, for git %s", got, o.start)
			}
		})
	}
}

// TestStatLies: changes that do not show in the stat are captured.
func TestStatLies(t *testing.T) {
	t.Parallel()
	at := time.Date(2021, 1, 1, 0, 0, 0, 0, time.UTC)
	begin := func(t *testing.T) *sandbox {
		s := newRepo(t)
		s.write("f", "one\n")
		s.must(os.Chtimes(s.path("f"), at, at))
		s.commit("first")
		time.Sleep(50 * time.Millisecond) // so that git does not take the entry for racy
		s.git("update-index", "--really-refresh")
		return s
	}
	for name, change := range map[string]func(*sandbox){
		"time set back": func(s *sandbox) {
			s.must(os.WriteFile(s.path("f"), []byte("two\n"), 0o644))
			s.must(os.Chtimes(s.path("f"), at, at))
		},
		"another file of the same time": func(s *sandbox) {
			s.write("g", "two\n")
			s.must(os.Chtimes(s.path("g"), at, at))
			s.must(os.Rename(s.path("g"), s.path("f")))
		},
		"at once": func(s *sandbox) {
			s.must(os.WriteFile(s.path("f"), []byte("two\n"), 0o644))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := begin(t)
			tree, o := s.begin(), newOracle(s)
			o.fresh = true
			change(s)
			o.capture(tree)
			for _, content := range []string{"abc\n", "abd\n", "abc\n", "one\n"} {
				s.must(os.WriteFile(s.path("f"), []byte(content), 0o644))
				o.capture(tree)
			}
		})
	}
}
