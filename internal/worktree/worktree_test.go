package worktree_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"codeloops/internal/loop"
	"codeloops/internal/worktree"
)

// A scene is a repository with work in it that is in no commit.
type scene struct {
	t    *testing.T
	root string
	home string
}

func newScene(t *testing.T) *scene {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &scene{t, filepath.Join(dir, "project with a blank"), filepath.Join(dir, "copies")}
	s.write("README", "hello\n", 0o600)
	s.write("sub/run.sh", "echo hi\n", 0o700)
	s.write(".gitignore", "/ignored\n", 0o600)
	s.git(s.root, "init", "-q", "-b", "main")
	s.git(s.root, "add", "-A")
	s.git(s.root, "commit", "-q", "-m", "start")
	s.write("README", "hullo\n", 0o600)
	s.write("new.txt", "new\n", 0o600)
	s.write("ignored", "no\n", 0o600)
	return s
}

func (s *scene) write(name, content string, mode os.FileMode) {
	s.t.Helper()
	name = filepath.Join(s.root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), mode); err != nil {
		s.t.Fatal(err)
	}
}

func run(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GIT_") }),
		"GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull,
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return out, fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return out, nil
}

func (s *scene) git(dir string, args ...string) string {
	s.t.Helper()
	out, err := run(s.t.Context(), dir, args...)
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// state keeps what the work tree holds as a commit, and leaves the index as it
// was.
func (s *scene) state() loop.Change {
	s.t.Helper()
	before := s.git(s.root, "write-tree")
	s.git(s.root, "add", "-A")
	commit := s.git(s.root, "commit-tree", "-m", "checkpoint", s.git(s.root, "write-tree"))
	s.git(s.root, "read-tree", before)
	return loop.Change{Checkpoint: commit}
}

func (s *scene) copy(dir string) *worktree.Copy {
	return &worktree.Copy{
		Git: run, Root: s.root, Dir: filepath.Join(s.root, dir), Home: s.home,
		Head: func() (string, string, error) { return s.git(s.root, "rev-parse", "HEAD"), "main", nil },
	}
}

func read(t *testing.T, parts ...string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func TestCopy(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := s.copy("sub")
	dir, err := c.Make(t.Context(), s.state())
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Dir(dir)
	if filepath.Base(dir) != "sub" || filepath.Base(root) != filepath.Base(s.root) {
		t.Errorf("the copy is %s", dir)
	}
	if got := read(t, root, "README") + read(t, root, "new.txt"); got != "hullo\nnew\n" {
		t.Errorf("the files are %q", got)
	}
	if info, err := os.Stat(filepath.Join(dir, "run.sh")); err != nil || runtime.GOOS != "windows" && info.Mode()&0o100 == 0 {
		t.Errorf("run.sh: %v, %v", info, err)
	}
	if _, err := os.Stat(filepath.Join(root, "ignored")); err == nil {
		t.Error("an ignored file has been copied")
	}
	// git says in it what it says in the work tree.
	if got, want := s.git(root, "status", "--porcelain"), s.git(s.root, "status", "--porcelain"); got != want {
		t.Errorf("git status says %q, and %q in the work tree", got, want)
	}
	if got := s.git(dir, "diff", "HEAD", "--stat"); !strings.Contains(got, "README") {
		t.Errorf("git diff says %q", got)
	}
	if got := s.git(dir, "log", "--format=%s %D", "-1"); got != "start HEAD -> main" {
		t.Errorf("git log says %q", got)
	}
}

// TestStaysApart does in a copy what a critic may do, and looks for it in the
// work tree.
func TestStaysApart(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := s.copy("")
	state, before := s.state(), s.git(s.root, "status", "--porcelain")
	root, err := c.Make(t.Context(), state)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "README"), []byte("broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.git(root, "add", "-A")
	s.git(root, "commit", "-q", "-m", "the critic's own")
	s.git(root, "branch", "other")
	if got := s.git(s.root, "status", "--porcelain"); got != before {
		t.Errorf("git status of the work tree says %q, and said %q", got, before)
	}
	if got := s.git(s.root, "for-each-ref", "--format=%(refname)"); got != "refs/heads/main" || read(t, s.root, "README") != "hullo\n" {
		t.Errorf("the references are %q", got)
	}
	if got := s.git(s.root, "worktree", "list", "--porcelain"); strings.Count(got, "worktree ") != 1 {
		t.Errorf("git worktree list says %q", got)
	}
	if _, err := c.Make(t.Context(), state); err != nil || read(t, root, "README") != "hullo\n" {
		t.Errorf("made again: %v", err)
	}
}

// TestRemove removes what a build can leave, directories without the right to
// write among it.
func TestRemove(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := s.copy("")
	root, err := c.Make(t.Context(), s.state())
	if err != nil {
		t.Fatal(err)
	}
	deep := filepath.Join(root, "cache", "module")
	if err := os.MkdirAll(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(deep, "x"), nil, 0o400); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{deep, filepath.Dir(deep)} {
		if err := os.Chmod(d, 0o500); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Remove(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(s.home); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestOtherHeads copies work trees whose HEAD is at no branch, or at no commit,
// or that have borrowed objects and hooks.
func TestOtherHeads(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(*scene, *worktree.Copy){
		"detached": func(_ *scene, c *worktree.Copy) {
			head := c.Head
			c.Head = func() (string, string, error) { commit, _, err := head(); return commit, "", err }
		},
		"unborn": func(_ *scene, c *worktree.Copy) {
			c.Head = func() (string, string, error) { return "", "main", nil }
		},
		"nothing known": func(_ *scene, c *worktree.Copy) {
			c.Head = func() (string, string, error) { return "", "", nil }
		},
		"a directory that is not kept": func(_ *scene, c *worktree.Copy) { c.Dir = filepath.Join(c.Root, "empty") },
		"line endings": func(s *scene, _ *worktree.Copy) {
			s.git(s.root, "config", "core.autocrlf", "true")
			s.git(s.root, "config", "core.worktree", s.root)
		},
		"hooks": func(s *scene, _ *worktree.Copy) {
			s.git(s.root, "config", "core.hooksPath", "hooks")
			s.write("hooks/post-index-change", "#!/bin/sh\necho >\"$PWD.ran\"\n", 0o700)
		},
		"a linked work tree": func(s *scene, c *worktree.Copy) {
			s.git(s.root, "worktree", "add", "-q", filepath.Join(filepath.Dir(s.root), "linked"))
			c.Root = filepath.Join(filepath.Dir(s.root), "linked")
			c.Dir = c.Root
		},
		"a shallow clone": func(s *scene, c *worktree.Copy) {
			s.git(s.root, "commit", "-q", "--allow-empty", "-m", "second")
			s.git(filepath.Dir(s.root), "clone", "-q", "--depth=1", "file://"+filepath.ToSlash(s.root), "shallow")
			c.Root = filepath.Join(filepath.Dir(s.root), "shallow")
			c.Dir = c.Root
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			c := s.copy("")
			prepare(s, c)
			other := *s
			other.root = c.Root
			dir, err := c.Make(t.Context(), other.state())
			if err != nil {
				t.Fatal(err)
			}
			want := "hullo\n"
			if c.Root != s.root {
				want = "hello\n"
			}
			if got := read(t, dir, "README"); got != want {
				t.Errorf("README holds %q, want %q", got, want)
			}
			if _, err := os.Stat(dir + ".ran"); err == nil {
				t.Error("a hook has been run")
			}
			s.git(dir, "status")
			if _, _, err := c.Head(); err == nil && name == "a shallow clone" {
				s.git(dir, "log")
			}
			if err := c.Remove(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestFails(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := s.copy("")
	if _, err := c.Make(t.Context(), loop.Change{Checkpoint: strings.Repeat("1", 40)}); err == nil || !strings.Contains(err.Error(), "make a work tree for the critic") {
		t.Errorf("got %v", err)
	}
	if left, err := os.ReadDir(s.home); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
