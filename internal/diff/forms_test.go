package diff_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"codeloops/internal/diff"
	"codeloops/internal/git"
)

// A form is a way to lay out or set up a repository. It receives a sandbox without a
// repository, and sets the sandbox's root to where the session starts.
type form struct {
	name string
	make func(*sandbox)
}

// filled makes a repository with two commits and uncommitted changes.
func filled(s *sandbox) {
	s.t.Helper()
	s.git("init", "-q", "-b", "main")
	fill(s)
}

func fill(s *sandbox) {
	s.t.Helper()
	s.write("a", "a\n")
	s.write("d/b", "b\n")
	s.write("d/e/c", "c\n")
	s.commit("first")
	s.append("a", "second\n")
	s.commit("second")
	s.append("d/b", "dirt\n")
	s.write("untracked", "u\n")
}

func unmerged(s *sandbox) {
	s.t.Helper()
	filled(s)
	s.git("stash", "-q")
	s.git("checkout", "-q", "-b", "other", "HEAD^")
	s.append("a", "other\n")
	s.commit("other")
	s.try("merge", "-q", "main")
	if s.git("ls-files", "--unmerged") == "" {
		s.t.Fatal("git has merged it")
	}
}

// TestForms: captures match git's answer in every form of a repository.
func TestForms(t *testing.T) {
	t.Parallel()
	for _, form := range []form{
		{"plain", filled},
		{"unborn", func(s *sandbox) { s.git("init", "-q"); s.write("a", "a\n"); s.write("d/b", "b\n") }},
		{"empty", func(s *sandbox) { s.git("init", "-q") }},
		{"detached", func(s *sandbox) { filled(s); s.git("stash", "-q"); s.git("checkout", "-q", "HEAD^") }},
		{"packed", func(s *sandbox) { filled(s); s.git("pack-refs", "--all"); s.git("gc", "-q") }},
		{"multi-pack-index", func(s *sandbox) {
			filled(s)
			s.git("repack", "-q", "-d")
			s.git("multi-pack-index", "write")
		}},
		{"linked work tree", func(s *sandbox) {
			filled(s)
			s.git("worktree", "add", "-q", filepath.Join(s.base, "linked"), "-b", "linked")
			s.root = filepath.Join(s.base, "linked")
			s.append("a", "linked\n")
		}},
		{".git is a symlink", func(s *sandbox) {
			filled(s)
			s.must(os.Rename(s.path(".git"), filepath.Join(s.base, "elsewhere")))
			s.link("../elsewhere", ".git")
		}},
		{"separate git directory", func(s *sandbox) {
			s.git("init", "-q", "--separate-git-dir", filepath.Join(s.base, "elsewhere"))
			fill(s)
		}},
		{"index v2", func(s *sandbox) { filled(s); s.git("update-index", "--index-version", "2") }},
		{"index v4", func(s *sandbox) { filled(s); s.git("update-index", "--index-version", "4") }},
		{"intent to add", func(s *sandbox) { filled(s); s.git("add", "-N", "untracked") }},
		{"split index", func(s *sandbox) {
			filled(s)
			s.git("update-index", "--split-index")
			s.write("d/more", "more\n")
			s.git("add", "d/more")
			s.git("rm", "-q", "d/e/c")
		}},
		{"sparse checkout", func(s *sandbox) {
			filled(s)
			s.git("sparse-checkout", "set", "--no-cone", "/a", "/untracked")
		}},
		{"sparse index", func(s *sandbox) {
			filled(s)
			s.git("stash", "-q")
			s.git("sparse-checkout", "set", "--cone", "--sparse-index", "x")
		}},
		{"preciousObjects", func(s *sandbox) {
			filled(s)
			s.git("config", "core.repositoryFormatVersion", "1")
			s.git("config", "extensions.preciousObjects", "true")
		}},
		{"unmerged", unmerged},
		{"unmerged and ignored", func(s *sandbox) { unmerged(s); s.write(".git/info/exclude", "a\n!a/\n") }},
		{"shallow", func(s *sandbox) {
			filled(s)
			s.git("clone", "-q", "--depth=1", "file://"+s.root, filepath.Join(s.base, "clone"))
			s.root = filepath.Join(s.base, "clone")
		}},
		{"alternates", func(s *sandbox) {
			filled(s)
			s.git("clone", "-q", "--shared", s.root, filepath.Join(s.base, "clone"))
			s.root = filepath.Join(s.base, "clone")
		}},
		{"packed alternates of a linked work tree", func(s *sandbox) {
			filled(s)
			s.git("gc", "-q")
			s.git("clone", "-q", "--shared", s.root, filepath.Join(s.base, "clone"))
			s.root = filepath.Join(s.base, "clone")
			s.git("worktree", "add", "-q", filepath.Join(s.base, "linked"), "-b", "linked")
			s.root = filepath.Join(s.base, "linked")
		}},
		{"partial clone", func(s *sandbox) {
			filled(s)
			s.git("config", "uploadpack.allowFilter", "true")
			s.git("clone", "-q", "--filter=blob:none", "file://"+s.root, filepath.Join(s.base, "clone"))
			s.root = filepath.Join(s.base, "clone")
			s.git("reset", "-q", "--soft", "HEAD^")
		}},
	} {
		t.Run(form.name, func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t)
			form.make(s)
			tree, o := s.begin(), newOracle(s)
			if tree.Root() != s.root {
				t.Fatalf("root %s, want %s", tree.Root(), s.root)
			}
			for _, step := range []func(*sandbox){
				func(*sandbox) {},
				appends("a", "more\n"), writes("d/new", "new\n"), removes("d/b"),
				runs("add", "-A", "--sparse"), runs("commit", "-q", "-m", "third", "--allow-empty"), runs("gc", "-q"),
				removes("d"), func(s *sandbox) { s.remove("a"); s.write("a/x", "x\n") },
			} {
				if form.name == "empty" && !s.exists("a") {
					s.write("a", "a\n")
				}
				step(s)
				o.capture(tree)
			}
			s.checkCheckpoints(tree, o)
		})
	}
}

func (s *sandbox) exists(name string) bool {
	_, err := os.Lstat(s.path(name))
	return err == nil
}

// TestSubdirectoryAndCoreWorktree: a tree opened in a subdirectory captures the whole
// repository, and core.worktree is respected.
func TestSubdirectoryAndCoreWorktree(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	filled(s)
	sub, err := diff.Open(t.Context(), s.path("d/e"), s.options())
	s.must(err)
	s.must(sub.Baseline(t.Context()))
	o := newOracle(s)
	s.append("a", "more\n")
	o.capture(sub)
	s.remove("d")
	o.capture(sub)

	moved := filepath.Join(s.base, "moved")
	s.must(os.Rename(s.path(".git"), filepath.Join(s.base, "git")))
	s.must(os.Rename(s.root, moved))
	s.must(os.Mkdir(s.root, 0o755))
	s.must(os.Rename(filepath.Join(s.base, "git"), s.path(".git")))
	s.git("config", "core.worktree", moved)
	far, err := diff.Open(t.Context(), s.root, s.options())
	s.must(err)
	if far.Root() != moved || far.GitDir() != s.path(".git") {
		t.Errorf("root %s, git directory %s", far.Root(), far.GitDir())
	}
	s.git("config", "filter.up.clean", "tr a-z A-Z")
	s.must(far.Baseline(t.Context()))
	s.must(os.WriteFile(filepath.Join(moved, ".gitattributes"), []byte("* filter=up\n"), 0o644))
	c, err := far.Capture(t.Context())
	s.must(err)
	if !strings.Contains(c.Patch(), "+* filter=up\n") {
		t.Errorf("captured %s", c.Patch())
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	for name, refuse := range map[string]struct {
		make func(*sandbox)
		want func(error) bool
	}{
		"no repository": {func(*sandbox) {}, func(err error) bool { return errors.Is(err, diff.ErrNotRepository) }},
		"bare":          {func(s *sandbox) { s.git("init", "-q", "--bare") }, func(err error) bool { return errors.Is(err, diff.ErrBare) }},
		"sha256": {func(s *sandbox) { s.git("init", "-q", "--object-format=sha256") }, func(err error) bool {
			return errors.As(err, new(*git.UnsupportedError)) && strings.Contains(err.Error(), "sha256")
		}},
		"reftable": {func(s *sandbox) {
			s.git("init", "-q")
			s.git("config", "core.repositoryFormatVersion", "1")
			s.git("config", "extensions.refStorage", "reftable")
		}, func(err error) bool {
			return errors.As(err, new(*git.UnsupportedError)) && strings.Contains(err.Error(), "refstorage")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t)
			refuse.make(s)
			if _, err := diff.Open(t.Context(), s.root, s.options()); !refuse.want(err) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// TestHiddenByFlags: a changed file is captured even if index flags make git skip it.
func TestHiddenByFlags(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.write("assumed", "a\n")
	s.write("skipped", "s\n")
	s.commit("first")
	s.git("update-index", "--assume-unchanged", "assumed")
	s.git("update-index", "--skip-worktree", "skipped")
	tree := s.begin()
	s.append("assumed", "more\n")
	s.append("skipped", "more\n")
	c, err := tree.Capture(t.Context())
	s.must(err)
	if got, want := summary(c), "M assumed\nM skipped\n"; got != want {
		t.Errorf("captured %q, want %q", got, want)
	}
}

func TestLargeFile(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	large := strings.Repeat("0123456789abcdef", 21<<16)
	s.write("tracked", large)
	s.commit("first")
	s.write("untracked", large)
	tree, o := s.begin(), newOracle(s)
	s.append("tracked", "more")
	s.append("untracked", "more")
	s.write("new", large)
	c, err := tree.Capture(t.Context())
	s.must(err)
	if want := o.now(); c.State != want {
		t.Errorf("state %s, git's tree %s", c.State, want)
	}
	if got, want := summary(c), "A new\nM tracked\nM untracked\n"; got != want {
		t.Errorf("captured %q, want %q", got, want)
	}
	size := int64(len(large))
	for _, f := range c.Files {
		if !f.Binary || f.NewSize < size || f.Path != "new" && f.OldSize != size || len(f.Patch) > 500 {
			t.Errorf("%s: binary %t, sizes %d and %d, patch of %d bytes", f.Path, f.Binary, f.OldSize, f.NewSize, len(f.Patch))
		}
	}
	is := s.git("hash-object", "new")
	want := "diff --git a/new b/new\nnew file mode 100644\nindex " + strings.Repeat("0", 40) + ".." + is + "\nBinary files /dev/null and b/new differ\n" +
		fmt.Sprintf("# too large to compare: %d bytes\n", size)
	if got := c.Files[0].Patch; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestLargeLimit: a file of exactly the maximum size is compared, and a larger one is
// not, even if conversion of its line ends shortens it.
func TestLargeLimit(t *testing.T) {
	t.Parallel()
	s := newRepoInMemory(t)
	line := "0123456789abcd\r\n"
	exact := strings.Repeat(line, diff.Large/len(line))
	s.write(".gitattributes", "over text\n")
	tree, o := s.begin(), newOracle(s)
	s.write("exact", exact)
	s.write("over", exact+exact[:diff.Large/8])
	c, err := tree.Capture(t.Context())
	s.must(err)
	if want := o.now(); c.State != want {
		t.Errorf("state %s, git's tree %s", c.State, want)
	}
	if got := summary(c); got != "A exact\nA over\n" {
		t.Fatalf("captured %s", got)
	}
	if exact, over := c.Files[0], c.Files[1]; exact.Binary || exact.Insertions != diff.Large/len(line) || !over.Binary {
		t.Errorf("exact: binary %t, %d lines; over: binary %t", exact.Binary, exact.Insertions, over.Binary)
	}
}

// TestAnotherRepositoryAtTheStart: if the session's directory becomes a repository of its
// own, the session still uses the repository around it.
func TestAnotherRepositoryAtTheStart(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	filled(s)
	tree, err := diff.Open(t.Context(), s.path("d"), s.options())
	s.must(err)
	s.trees = append(s.trees, tree)
	s.must(tree.Baseline(t.Context()))
	s.gitIn(s.path("d"), "init", "-q")
	s.write("d/.git/info/exclude", "*.txt\n")
	s.write("new.txt", "new\n")
	c, err := tree.Capture(t.Context())
	s.must(err)
	if got := summary(c); got != "A new.txt\n" || tree.Root() != s.root {
		t.Errorf("captured %q in %s", got, tree.Root())
	}
}

// TestRepositoryLost: a missing or broken repository is reported, and used again when it
// is back.
func TestRepositoryLost(t *testing.T) {
	t.Parallel()
	const noMore = "ROOT/.git, which the session began in, is not a git repository any more"
	for name, c := range map[string]struct {
		lose func(*sandbox)
		want string
	}{
		"removed":                {func(*sandbox) {}, "the repository that the session began in is gone: "},
		"another kind of file":   {writes(".git", "gitdir: .\n"), noMore},
		"another directory":      {writes(".git/HEAD/f", "f\n"), noMore},
		"removed, inside one":    {func(s *sandbox) { s.gitIn(s.base, "init", "-q") }, "the repository that the session began in is gone: "},
		"replaced, without HEAD": {func(s *sandbox) { s.git("init", "-q"); s.remove(".git/HEAD") }, noMore},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newRepo(t)
			s.write("f", "f\n")
			s.commit("first")
			tree, away := s.begin(), filepath.Join(s.base, "away")
			s.must(os.Rename(s.path(".git"), away))
			c.lose(s)
			_, err := tree.Capture(t.Context())
			want := "capture what changed in ROOT: " + c.want
			if got := strings.ReplaceAll(fmt.Sprint(err), s.root, "ROOT"); !strings.HasPrefix(got, want) {
				t.Errorf("captured: %s\nwant: %s", got, want)
			}
			s.remove(".git")
			s.must(os.Rename(away, s.path(".git")))
			o := newOracle(s)
			s.write("f", "changed\n")
			if got := summary(o.capture(tree)); got != "M f\n" {
				t.Errorf("captured %s", got)
			}
		})
	}
}
