package diff_test

import (
	"strconv"
	"strings"
	"testing"

	"codeloops/internal/diff"
)

// TestAttributesOutOfScope: an attributes file counts even if it is ignored itself,
// whether its directory is listed again or not.
func TestAttributesOutOfScope(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.write(".gitignore", ".gitattributes\n")
	s.write("a", "a\n")
	s.write("d/b", "b\n")
	s.write("d/e/c", "c\n")
	s.write("f/g", "g\n")
	s.commit("first")
	s.write("d/.gitattributes", "b text\nc text\n")
	settle()
	tree, o := s.begin(), newOracle(s)
	for i := range 3 {
		for _, name := range []string{"a", "d/b", "d/e/c", "f/g"} {
			s.write(name, "line "+strconv.Itoa(i)+"\r\n")
		}
		settle()
		o.capture(tree)
		tree = s.open()
		s.must(tree.Baseline(t.Context()))
		o = newOracle(s)
		s.write("f/.gitattributes", "* text=auto\n")
		settle()
	}
}

// TestShownWhatever: attributes that control how git shows a file hide nothing: the patch
// is git's own without these attributes.
func TestShownWhatever(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	names := []string{"binary", "unset", "set", "driver.py", "info"}
	for _, name := range names {
		s.write(name, "  def f():\n    a\n    b\n    c\n    d\n")
	}
	s.write("set", "\x00\n")
	tree := s.begin()
	base, err := tree.Checkpoint(t.Context(), tree.BaseState(), "test/0", "")
	s.must(err)
	s.write(".gitattributes", "binary binary\nunset -diff\nset diff\n*.py diff=python\n")
	s.write(".git/info/attributes", "info -diff\n")
	for _, name := range names {
		s.append(name, "    more\n")
	}
	c, err := tree.Capture(t.Context())
	s.must(err)
	last, err := tree.Checkpoint(t.Context(), c.State, "test/1", "")
	s.must(err)
	between := []string{"diff-tree", "-p", "-r", "--full-index", "--no-renames", base, last}
	if got := s.gitWith(s.root, between...); strings.Count(got, "\n+    more") != 2 || !strings.Contains(got, "@@ def f():\n") {
		t.Fatalf("the attributes do not affect git:\n%s", got)
	}
	s.remove(".git/info/attributes")
	want := s.gitWith(s.path(".git"), append([]string{"-c", "core.bare=true"}, between...)...)
	if got := strings.TrimSuffix(c.Patch(), "\n"); got != want || strings.Count(got, "\n+    more") != 4 {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestLeftOutOfTheWorkTree: ignore rules that a sparse checkout leaves out of the work
// tree count, and so do attributes that exist only in the index.
func TestLeftOutOfTheWorkTree(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.env = append(s.env, "GIT_OPTIONAL_LOCKS=0") // git must not rewrite the index
	s.write("d/.gitignore", "*.log\n")
	s.write("d/.gitattributes", "* text\n")
	s.write("d/f", "f\n")
	s.commit("first")
	s.git("update-index", "--skip-worktree", "d/.gitignore")
	s.remove("d/.gitignore")
	s.remove("d/.gitattributes")
	settle()
	tree := s.begin()
	saving := s.open()
	s.must(saving.Baseline(t.Context()))
	base, err := saving.Checkpoint(t.Context(), saving.BaseState(), "s/0", "base")
	s.must(err)
	s.must(saving.Close())
	check := func(ignored, want string) {
		t.Helper()
		if got := s.git("status", "--porcelain", "--ignored", "-uall"); !strings.Contains(got+"\n", "!! "+ignored+"\n") {
			t.Fatalf("git says\n%s", got)
		}
		for who, tree := range map[string]*diff.Tree{"the same process": tree, "another": s.resumed(base)} {
			c, err := tree.Capture(t.Context())
			s.must(err)
			if got := summary(c); got != want || strings.Contains(c.Patch(), "\r") {
				t.Errorf("%s: captured %s", who, c.Patch())
			}
		}
	}
	s.write("d/sub/x.log", "log\n")
	s.write("d/sub/new", "new\r\n")
	settle()
	check("d/sub/x.log", "A d/sub/new\n")
	s.write("rules", "new\n")
	s.git("update-index", "--cacheinfo", "100644,"+s.git("hash-object", "-w", "rules")+",d/.gitignore")
	s.git("update-index", "--skip-worktree", "d/.gitignore")
	s.remove("rules")
	settle()
	check("d/sub/new", "A d/sub/x.log\n")
}
