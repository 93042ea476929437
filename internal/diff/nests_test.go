package diff_test

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"codeloops/internal/diff"
	"codeloops/internal/loop"
)

// submodule makes a repository with a file, and adds it as a submodule.
func (s *sandbox) submodule(in, name string) {
	s.t.Helper()
	other := filepath.Join(s.base, "origins", strings.ReplaceAll(name, "/", "-"))
	s.must(os.MkdirAll(other, 0o755))
	s.gitIn(other, "init", "-q")
	s.must(os.WriteFile(filepath.Join(other, "file"), []byte("file\n"), 0o644))
	s.gitIn(other, "add", ".")
	s.gitIn(other, "commit", "-q", "-m", "first")
	s.gitIn(s.path(in), "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", other, name)
}

// newNested returns a repository with a submodule that has a submodule itself, a
// submodule that is not checked out, and a nested repository that is no submodule.
func newNested(tb testing.TB) *sandbox {
	tb.Helper()
	s := newRepo(tb)
	s.write("top", "top\n")
	s.submodule("", "sub")
	s.submodule("sub", "deep")
	s.gitIn(s.path("sub"), "commit", "-q", "-m", "deep")
	s.submodule("", "away")
	s.commit("first")
	s.git("submodule", "--quiet", "deinit", "-f", "away")
	s.write("own/file", "own\n")
	s.gitIn(s.path("own"), "init", "-q")
	return s
}

func (s *sandbox) capture(tree *diff.Tree) loop.Change {
	s.t.Helper()
	c, err := tree.Capture(s.t.Context())
	s.must(err)
	return c
}

// files lists everything in a directory with modes and contents, including git's own
// files.
func (s *sandbox) files(dir string) string {
	s.t.Helper()
	var b strings.Builder
	s.must(filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		b.WriteString(path + " " + d.Type().String() + "\n" + string(content) + "\n")
		return err
	}))
	return b.String()
}

// TestNests: changes in a nested repository are in the diff, the patch applies to the
// initial state, and a restore undoes them without writing to a git directory.
func TestNests(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change  func(*sandbox)
		want    string
		commits bool // commits of nested repositories change; a restore leaves them alone
		remains bool // a new repository is in the way of a patch or a restore
	}{
		"edited":       {change: func(s *sandbox) { s.append("sub/file", "more\n") }, want: "M sub/file\n"},
		"untracked":    {change: func(s *sandbox) { s.write("sub/d/new", "new\n") }, want: "A sub/d/new\n"},
		"removed":      {change: func(s *sandbox) { s.remove("sub/file") }, want: "D sub/file\n"},
		"staged":       {change: func(s *sandbox) { s.append("sub/file", "more\n"); s.gitIn(s.path("sub"), "add", "file") }, want: "M sub/file\n"},
		"within one":   {change: func(s *sandbox) { s.append("sub/deep/file", "more\n") }, want: "M sub/deep/file\n"},
		"no submodule": {change: func(s *sandbox) { s.append("own/file", "more\n") }, want: "M own/file\n"},
		"not there":    {change: func(s *sandbox) { s.write("away/file", "file\n") }, want: "A away/file\n"},
		"binary":       {change: func(s *sandbox) { s.write("sub/file", "a\x00b") }, want: "M sub/file\n"},
		"executable":   {change: func(s *sandbox) { s.chmod("sub/file", 0o755) }, want: "M sub/file\n"},
		"link":         {change: func(s *sandbox) { s.link("file", "sub/link") }, want: "A sub/link\n"},
		"assumed": {change: func(s *sandbox) {
			s.gitIn(s.path("sub"), "update-index", "--assume-unchanged", "file")
			s.append("sub/file", "more\n")
		}, want: "M sub/file\n"},
		"all ignored": {change: func(s *sandbox) {
			s.git("config", "diff.ignoreSubmodules", "all")
			s.git("config", "submodule.sub.ignore", "all")
			s.append("sub/file", "more\n")
		}, want: "M sub/file\n"},
		"ignored inside": {change: func(s *sandbox) { s.write("sub/.gitignore", "x\n"); s.write("sub/x", "x\n") }, want: "A sub/.gitignore\n"},
		"without .git": {change: func(s *sandbox) {
			s.remove("sub/.git")
			s.append("sub/file", "more\n")
			s.write("sub/new", "new\n")
		}, want: "M sub/file\nA sub/new\n"},
		"taken in": {change: func(s *sandbox) {
			s.remove("away/.git")
			s.git("rm", "-q", "-f", "--cached", "away")
			s.write("away/file", "file\n")
			s.git("add", "away")
		}, want: "D away\nA away/file\n", commits: true},
		"a new one":         {change: func(s *sandbox) { s.git("init", "-q", "new"); s.write("new/file", "new\n") }, want: "A new/file\n"},
		"a new one, inside": {change: func(s *sandbox) { s.git("init", "-q", "sub/new"); s.write("sub/new/file", "new\n") }, want: "A sub/new/file\n"},
		"a new one, hidden": {change: func(s *sandbox) {
			s.git("init", "-q", "new")
			s.write("new/.git/info/exclude", "*\n")
			s.write("new/file", "new\n")
			s.git("update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",new")
		}, want: "A new\nA new/file\n", remains: true},
		"gone":   {change: func(s *sandbox) { s.remove("sub") }, want: "D sub\nD sub/.gitmodules\nD sub/deep\nD sub/deep/file\nD sub/file\n"},
		"a file": {change: func(s *sandbox) { s.remove("own"); s.write("own", "x\n") }, want: "A own\nD own/file\n", remains: true},
		"committed": {change: func(s *sandbox) {
			s.append("sub/file", "more\n")
			s.gitIn(s.path("sub"), "commit", "-q", "-a", "-m", "more")
		}, want: "M sub\nM sub/file\n", commits: true},
		"committed within one": {change: func(s *sandbox) {
			s.append("sub/deep/file", "more\n")
			s.gitIn(s.path("sub/deep"), "commit", "-q", "-a", "-m", "more")
			s.gitIn(s.path("sub"), "commit", "-q", "-a", "-m", "more")
		}, want: "M sub\nM sub/deep\nM sub/deep/file\n", commits: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newNested(t)
			tree := s.begin()
			start := s.capture(tree)
			if !start.Empty() || start.Warnings != nil {
				t.Fatalf("changed before anything happened: %s%q", start.Patch(), start.Warnings)
			}
			_, err := tree.Checkpoint(t.Context(), start.State, "s/0", "Start")
			s.must(err)
			before := s.copyOf("before")
			c.change(s)
			gits := s.files(s.path(".git/modules"))
			change := s.capture(tree)
			if got := summary(change); got != c.want {
				t.Errorf("captured\n%swant\n%s", got, c.want)
			}
			if !c.commits && !c.remains {
				s.checkApplies(before, change)
			}
			id, err := tree.Checkpoint(t.Context(), change.State, "s/1", "After")
			s.must(err)
			s.keptGit("fsck", "--strict", "--no-dangling")
			way := s.restore(tree, start)
			if c.commits != (len(way.Moved) > 0) {
				t.Errorf("moved repositories: %q", way.Moved)
			}
			if back := s.capture(tree); !c.commits && len(way.Nested) == 0 && back.State != start.State {
				t.Errorf("put back to\n%s", back.Patch())
			}
			for _, name := range way.Nested {
				if !s.exists(name) {
					t.Errorf("%s is gone", name)
				}
			}
			if got := s.files(s.path(".git/modules")); got != gits {
				t.Error("something was written in a git directory")
			}
			s.checkAnew(id, change, way.Nested)
		})
	}
}

// copyOf copies the work tree.
func (s *sandbox) copyOf(name string) string {
	s.t.Helper()
	dir := filepath.Join(s.base, name)
	tool(s.t, "cp", "-a", s.root, dir)
	return dir
}

// checkApplies checks that git can apply the captured patch to a copy of the initial state.
func (s *sandbox) checkApplies(before string, c loop.Change) {
	s.t.Helper()
	patch := filepath.Join(s.base, "patch")
	s.must(os.WriteFile(patch, []byte(c.ApplicablePatch()), 0o644))
	s.gitIn(before, "apply", "--whitespace=nowarn", patch)
	for _, f := range c.Files {
		want, wantErr := os.ReadFile(s.path(f.Path))
		got, err := os.ReadFile(filepath.Join(before, f.Path))
		if f.NewMode != 0o160000 && (string(got) != string(want) || (err == nil) != (wantErr == nil)) {
			s.t.Errorf("%s is %q after the patch, want %q", f.Path, got, want)
		}
	}
}

// checkAnew checks that another process knows the initial state and that of a checkpoint.
func (s *sandbox) checkAnew(checkpoint string, want loop.Change, stay []string) {
	s.t.Helper()
	other := s.open()
	s.must(other.Resume(s.t.Context(), s.keptGit("rev-parse", "refs/codeloops/s/0")))
	got, err := other.Between(s.t.Context(), loop.Change{}, loop.Change{State: want.State, Checkpoint: checkpoint})
	s.must(err)
	if got.Patch() != want.Patch() {
		s.t.Errorf("between the checkpoints\n%swant\n%s", got.Patch(), want.Patch())
	}
	now := s.capture(other)
	if slices.ContainsFunc(now.Files, func(f loop.FileChange) bool {
		return f.OldMode != 0o160000 && f.NewMode != 0o160000 && !slices.Contains(stay, f.Path)
	}) {
		s.t.Errorf("another process, after a restore:\n%s", now.Patch())
	}
}

// TestNestsRestoredLater: a state from an earlier session can be restored.
func TestNestsRestoredLater(t *testing.T) {
	t.Parallel()
	s := newNested(t)
	tree := s.begin()
	s.append("sub/deep/file", "more\n")
	s.write("own/new", "new\n")
	change := s.capture(tree)
	id, err := tree.Checkpoint(t.Context(), change.State, "s/1", "After")
	s.must(err)
	s.write("sub/deep/file", "other\n")
	s.remove("own/new")
	s.remove("own/file")
	later := s.begin()
	state, err := later.Recall(id)
	s.must(err)
	s.restore(later, loop.Change{State: state})
	if after := s.capture(tree); after.State != change.State {
		t.Errorf("restored to\n%s", after.Patch())
	}
}

// TestNestsCannotBeRead: an unreadable nested repository is reported, and counts as
// unchanged.
func TestNestsCannotBeRead(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root reads everything")
	}
	s := newNested(t)
	tree := s.begin()
	s.chmod("sub", 0)
	t.Cleanup(func() { _ = os.Chmod(s.path("sub"), 0o755) })
	c := s.capture(tree)
	if !c.Empty() || len(c.Warnings) == 0 {
		t.Errorf("captured %s, warnings %q", c.Patch(), c.Warnings)
	}
}

// TestNestWithABrokenIndex: a nested repository whose index cannot be read is reported.
func TestNestWithABrokenIndex(t *testing.T) {
	t.Parallel()
	s := newNested(t)
	tree := s.begin()
	s.write(".git/modules/sub/index", "no index")
	s.append("sub/file", "more\n")
	c := s.capture(tree)
	if summary(c) != "M sub/file\n" || !slices.ContainsFunc(c.Warnings, func(w string) bool {
		return strings.HasPrefix(w, "cannot read the index of the repository sub: ")
	}) {
		t.Errorf("captured %s, warnings %q", c.Patch(), c.Warnings)
	}
}

// TestFakeGit: files in a .git that is no repository are named.
func TestFakeGit(t *testing.T) {
	t.Parallel()
	const since = "the setup of git has changed since the session began; no diff shows that, and it can hide changes: "
	for name, c := range map[string]struct {
		change func(*sandbox)
		want   []string
	}{
		"directory": {
			func(s *sandbox) { s.write("d/.git/conftest.py", "x\n"); s.write("d/.git/e/f", "x\n") },
			[]string{since + "d/.git", "d/.git is no repository, and no diff shows what it holds: conftest.py, e/f"},
		},
		"file":            {func(s *sandbox) { s.write("d/.git", "x\n") }, []string{since + "d/.git", "d/.git is no repository, and no diff shows what it holds"}},
		"odd name":        {func(s *sandbox) { s.write("d/.git/\x1b", "x\n") }, []string{since + "d/.git", `d/.git is no repository, and no diff shows what it holds: "\x1b"`}},
		"empty":           {func(s *sandbox) { s.must(os.MkdirAll(s.path("d/.git/e"), 0o755)) }, nil},
		"one from before": {func(s *sandbox) { s.write("d/f", "x\n") }, nil},
		"one from before, with more": {
			func(s *sandbox) { s.write("old/.git/more", "x\n") },
			[]string{since + "old/.git", "old/.git is no repository, and no diff shows what it holds: a, more"},
		},
		"in a submodule": {
			func(s *sandbox) { s.write("sub/d/.git/a", "x\n") },
			[]string{since + "sub/d/.git", "sub/d/.git is no repository, and no diff shows what it holds: a"},
		},
		"of a submodule": {
			func(s *sandbox) { s.remove("sub/.git"); s.write("sub/.git/a", "x\n") },
			[]string{since + "sub/.git", "sub/.git is no repository, and no diff shows what it holds: a"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newNested(t)
			s.write("old/.git/a", "a\n")
			s.write("old/f", "f\n")
			s.write("d/known", "f\n")
			tree := s.begin()
			start := s.capture(tree)
			id, err := tree.Checkpoint(t.Context(), start.State, "s/0", "Start")
			s.must(err)
			if start.Warnings != nil {
				t.Fatalf("warned at the start: %q", start.Warnings)
			}
			c.change(s)
			resumed := s.open()
			s.must(resumed.Resume(t.Context(), id))
			for _, tree := range []*diff.Tree{tree, tree, resumed} {
				got := s.capture(tree).Warnings
				if c.want == nil && got != nil || c.want != nil && !reflect.DeepEqual(got, c.want) {
					if name != "of a submodule" || !slices.Contains(got, c.want[1]) { // the submodule's ignore rules are gone, too
						t.Errorf("warnings %q, want %q", got, c.want)
					}
				}
			}
		})
	}
}
