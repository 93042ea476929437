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
	"testing"
	"time"

	"codeloops/internal/diff"
)

// A sandbox is a directory with its own home, in which git behaves the same on every
// machine.
type sandbox struct {
	t    testing.TB
	base string // contains home and, by default, the work tree
	root string // of the work tree
	own  string // the private repository of its trees
	env  []string
	now  func() time.Time
	// trees are the open trees. The list is emptied when a test ends, because its cleanup
	// functions keep the sandbox in memory until all tests are done.
	trees []*diff.Tree
}

// sandboxes is the parent directory of all sandboxes. Nothing is removed before the end,
// because ext4 creates files slowly while others are being removed.
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
	// Otherwise each commit starts another program to see whether maintenance is due.
	err = os.WriteFile(filepath.Join(base, "home/.config/git/config"), []byte("[maintenance]\n\tauto = false\n"), 0o644)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// newRepo returns a sandbox with an empty repository.
func newRepo(tb testing.TB) *sandbox {
	tb.Helper()
	return newSandbox(tb).initialized()
}

// newRepoInMemory is newRepo on a file system in memory, if the system has one, because
// disks are slow.
func newRepoInMemory(tb testing.TB) *sandbox {
	tb.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "codeloops-test-") //nolint:usetesting // not in the default directory
	if err != nil {
		return newRepo(tb)
	}
	tb.Cleanup(func() { _ = os.RemoveAll(dir) })
	s := newSandboxIn(tb, dir).initialized()
	return s
}

func (s *sandbox) initialized() *sandbox {
	s.t.Helper()
	s.git("init", "-q", "-b", "main")
	return s
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

// try runs git and ignores errors.
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

func (s *sandbox) options() diff.Options {
	unsynced := func(*os.File) error { return nil } // power cuts are tested elsewhere
	return diff.Options{Environ: s.env, Now: s.now, Sync: unsynced}
}

func (s *sandbox) open() *diff.Tree {
	s.t.Helper()
	tree, err := diff.Open(s.t.Context(), s.root, s.options())
	s.must(err)
	s.must(tree.KeepIn(s.own))
	s.trees = append(s.trees, tree)
	return tree
}

// closeTrees closes the open trees and forgets them.
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

// resumed resumes a session from a checkpoint, as another process would.
func (s *sandbox) resumed(commit string) *diff.Tree {
	s.t.Helper()
	tree := s.open()
	s.must(tree.Resume(s.t.Context(), commit))
	return tree
}

// settle waits until the file times are old enough to show any later change.
func settle() { time.Sleep(150 * time.Millisecond) }

func tool(tb testing.TB, name string, args ...string) {
	tb.Helper()
	if out, err := exec.CommandContext(tb.Context(), name, args...).CombinedOutput(); err != nil {
		tb.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
}
