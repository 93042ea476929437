package diff_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"codeloops/internal/diff"
	"codeloops/internal/diff/scan"
)

// A sandbox is a directory with a home of its own, in which git behaves the
// same on every machine.
type sandbox struct {
	t     testing.TB
	base  string // holds home, and the work tree unless a test says otherwise
	root  string // of the work tree
	own   string // the private repository of its trees
	env   []string
	now   func() time.Time
	clock func(dir string) scan.Clock // as in diff.Options
	// trees are those that are open. The list is what a test that is over lets go
	// of: its clean-up functions are remembered until all tests are.
	trees []*diff.Tree

	noting sync.Mutex
	ran    []string // what the trees ran the git program for
}

// sandboxes is where they are. Nothing is removed before the end: ext4 is slow to make
// files while others go.
var sandboxes string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "codeloops-diff-")
	if err != nil {
		panic(err)
	}
	sandboxes = dir
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

func newSandbox(tb testing.TB) *sandbox {
	tb.Helper()
	dir, err := os.MkdirTemp(sandboxes, "") //nolint:usetesting // see sandboxes
	if err != nil {
		tb.Fatal(err)
	}
	return newSandboxIn(tb, dir)
}

func newSandboxIn(tb testing.TB, dir string) *sandbox {
	tb.Helper()
	base, err := filepath.EvalSymlinks(dir)
	if err != nil {
		tb.Fatal(err)
	}
	s := &sandbox{t: tb, base: base, root: filepath.Join(base, "work"), own: filepath.Join(sandboxes, "own-"+filepath.Base(base)), now: time.Now}
	tb.Cleanup(s.closeTrees)
	s.env = []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + filepath.Join(base, "home"),
		"XDG_CONFIG_HOME=" + filepath.Join(base, "home", ".config"),
		"GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com",
		"GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com",
		"GIT_AUTHOR_DATE=2024-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2024-01-01T00:00:00Z",
		"LC_ALL=C", "GIT_TEST_FSYNC=0",
	}
	for _, dir := range []string{"home/.config/git", "work"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o755); err != nil {
			tb.Fatal(err)
		}
	}
	// Each commit would start one more program, to see whether there is much to tidy up.
	err = os.WriteFile(filepath.Join(base, "home/.config/git/config"), []byte("[maintenance]\n\tauto = false\n"), 0o644)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// newRepo is a sandbox with an empty repository in it.
func newRepo(tb testing.TB) *sandbox {
	tb.Helper()
	return newSandbox(tb).initialized()
}

// newRepoInMemory is newRepo where the system has a directory for that: disks
// are slow.
func newRepoInMemory(tb testing.TB) *sandbox {
	tb.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "codeloops-test-") //nolint:usetesting // elsewhere
	if err != nil {
		return newRepo(tb)
	}
	tb.Cleanup(func() { _ = os.RemoveAll(dir) })
	s := newSandboxIn(tb, dir).initialized()
	s.clock = keeping(true) // as on a disk: nothing is written here through mappings
	return s
}

func (s *sandbox) initialized() *sandbox {
	s.t.Helper()
	s.git("init", "-q", "-b", "main")
	return s
}

func (s *sandbox) lookup(name string) (string, bool) {
	for _, pair := range s.env {
		if key, value, _ := strings.Cut(pair, "="); key == name {
			return value, true
		}
	}
	return "", false
}

// Run implements diff.Git.
func (s *sandbox) Run(ctx context.Context, c diff.GitCall) ([]byte, error) {
	return s.run(ctx, c.Dir, c.Env, c.Stdin, c.Args...)
}

func (s *sandbox) run(ctx context.Context, dir string, env []string, stdin []byte, args ...string) ([]byte, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Env = dir, append(slices.Clip(s.env), env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(stdin), &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.Bytes(), fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, &stderr)
	}
	return stdout.Bytes(), nil
}

func (s *sandbox) git(args ...string) string {
	s.t.Helper()
	return s.gitIn(s.root, args...)
}

func (s *sandbox) gitIn(dir string, args ...string) string {
	s.t.Helper()
	out, err := s.run(s.t.Context(), dir, nil, nil, args...)
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.TrimSuffix(string(out), "\n")
}

// keptGit runs git in the private repository.
func (s *sandbox) keptGit(args ...string) string {
	s.t.Helper()
	return s.gitIn(s.base, append([]string{"--git-dir=" + s.own}, args...)...)
}

// gitWith runs git with what is kept beside its own objects.
func (s *sandbox) gitWith(dir string, args ...string) string {
	s.t.Helper()
	out, err := s.run(s.t.Context(), dir, []string{"GIT_ALTERNATE_OBJECT_DIRECTORIES=" + filepath.Join(s.own, "objects")}, nil, args...)
	s.must(err)
	return strings.TrimSuffix(string(out), "\n")
}

// try runs git for what it does when it works.
func (s *sandbox) try(args ...string) { _, _ = s.run(s.t.Context(), s.root, nil, nil, args...) }

func (s *sandbox) path(name string) string { return filepath.Join(s.root, name) }

func (s *sandbox) write(name, content string) {
	s.t.Helper()
	s.must(os.MkdirAll(filepath.Dir(s.path(name)), 0o755))
	s.must(os.WriteFile(s.path(name), []byte(content), 0o644))
}

func (s *sandbox) remove(name string) { s.must(os.RemoveAll(s.path(name))) }

func (s *sandbox) link(target, name string) {
	s.t.Helper()
	s.must(os.MkdirAll(filepath.Dir(s.path(name)), 0o755))
	s.must(os.Symlink(target, s.path(name)))
}

func (s *sandbox) chmod(name string, mode fs.FileMode) { s.must(os.Chmod(s.path(name), mode)) }

func (s *sandbox) commit(message string) {
	s.t.Helper()
	s.git("add", "-A")
	s.git("commit", "-q", "--allow-empty", "-m", message)
}

func (s *sandbox) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// keeping returns the clocks of file systems that all keep times, or none.
func keeping(times bool) func(dir string) scan.Clock {
	return func(dir string) scan.Clock {
		c := scan.ClockOf(dir)
		c.Keeps = times
		return c
	}
}

func (s *sandbox) options() diff.Options {
	unsynced := func(*os.File) error { return nil } // power cuts have tests of their own
	return diff.Options{Env: s.lookup, Now: s.now, Git: s, Note: s.note, Clock: s.clock, Sync: unsynced}
}

func (s *sandbox) note(what string) {
	s.noting.Lock()
	defer s.noting.Unlock()
	s.ran = append(s.ran, what)
}

func (s *sandbox) open() *diff.Tree {
	s.t.Helper()
	tree, err := diff.Open(s.t.Context(), s.root, s.options())
	s.must(err)
	s.must(tree.KeepIn(s.own))
	s.trees = append(s.trees, tree)
	return tree
}

// closeTrees ends what the trees do that were opened, and forgets them.
func (s *sandbox) closeTrees() {
	for _, tree := range s.trees {
		_ = tree.Close()
	}
	s.trees = nil
}

// begin opens the work tree and takes the baseline.
func (s *sandbox) begin() *diff.Tree {
	s.t.Helper()
	tree := s.open()
	s.must(tree.Baseline(s.t.Context()))
	return tree
}

// resumed goes on from a checkpoint as a process of its own does.
func (s *sandbox) resumed(commit string) *diff.Tree {
	s.t.Helper()
	tree := s.open()
	s.must(tree.Resume(s.t.Context(), commit))
	return tree
}

// settle waits until the times of the files tell of any later change.
func settle() { time.Sleep(150 * time.Millisecond) }

func tool(tb testing.TB, name string, args ...string) {
	tb.Helper()
	if out, err := exec.CommandContext(tb.Context(), name, args...).CombinedOutput(); err != nil {
		tb.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
}
