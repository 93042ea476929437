package diff_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"codeloops/internal/diff"
	"codeloops/internal/loop"
)

// notShown summarizes what the patch does not show: "hidden f", "hidden dist/ 30".
func notShown(c loop.Change) string {
	var b strings.Builder
	for _, u := range c.Unshown {
		fmt.Fprintf(&b, "%s %s", u.Why, u.Path)
		if u.Files > 0 {
			fmt.Fprintf(&b, " %d", u.Files)
		}
		if u.Status != loop.FileAdded {
			fmt.Fprintf(&b, " (%s)", u.Status)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// many writes n files into a directory.
func (s *sandbox) many(dir string, n int) {
	s.t.Helper()
	for i := range n {
		s.write(fmt.Sprintf("%s/%03d", dir, i), "x\n")
	}
}

const cacheTag = "Signature: 8a477f597d28d172789f06886806bc55\n"

// TestHidden: files that are ignored by rules that are newer than the session are
// reported, also in a resumed session.
func TestHidden(t *testing.T) {
	t.Parallel()
	before := func(s *sandbox) {
		s.write(".gitignore", "*.log\n!keep.log\n/out/\n")
		s.write("a", "a\n")
		s.write("d/b", "b\n")
		s.commit("first")
		s.write(".venv/.gitignore", "*\n")
		s.write(".venv/bin/python", "python\n")
		s.write("out/old", "old\n")
		s.write("x.log", "log\n")
		s.write(".git/info/exclude", "*.tmp\n")
		s.write("x.tmp", "tmp\n")
	}
	for name, c := range map[string]struct {
		change func(*sandbox)
		files  string // a summary of the changed files
		want   string
	}{
		"nothing": {func(*sandbox) {}, "", ""},
		"by rules that were there": {func(s *sandbox) {
			s.write("y.log", "")
			s.write("y.tmp", "")
			s.write("out/new", "")
			s.write(".venv/new", "")
		}, "", ""},
		"beside rules that changed": {func(s *sandbox) { s.append(".gitignore", "#\n"); s.write("y.log", ""); s.write("out/new", "") }, "M .gitignore\n", ""},
		"by a rule that is seen":    {func(s *sandbox) { s.append(".gitignore", "new\n"); s.write("new", ""); s.write("d/new", "") }, "M .gitignore\n", "hidden d/new\nhidden new\n"},
		"by itself": {
			func(s *sandbox) { s.write("d/.gitignore", ".gitignore\nnew\n"); s.write("d/new", "") },
			"A d/.gitignore\n", "hidden d/new\n",
		},
		"by itself, at the root": {
			func(s *sandbox) {
				s.write(".gitignore", ".gitignore\nnew\n*.log\n/out/\n")
				s.write("new", "")
				s.write("keep.log", "")
			},
			"M .gitignore\n", "hidden keep.log\nhidden new\n",
		},
		"an exception that is gone": {func(s *sandbox) { s.write(".gitignore", "*.log\n/out/\n"); s.write("keep.log", "") }, "M .gitignore\n", "hidden keep.log\n"},
		"as the rules are gone":     {func(s *sandbox) { s.remove(".gitignore"); s.write("y.log", "") }, "D .gitignore\nA out/old\nA x.log\nA y.log\n", ""},
		"with the directory":        {func(s *sandbox) { s.write("e/.gitignore", "*\n"); s.write("e/f/new", "") }, "", "hidden e/.gitignore\nhidden e/f/new\n"},
		"with the directory, deeply": {
			func(s *sandbox) { s.write("d/e/.gitignore", ".gitignore\nnew\n"); s.write("d/e/new", "") },
			"", "hidden d/e/.gitignore\nhidden d/e/new\n",
		},
		"with a directory that was hidden by other rules": {
			func(s *sandbox) { s.write(".venv/.gitignore", "**\n") },
			"", "hidden .venv/.gitignore\nhidden .venv/bin/python\n",
		},
		"in a cache": {
			func(s *sandbox) { s.write("e/.gitignore", "*\n"); s.write("e/CACHEDIR.TAG", cacheTag) },
			"", "hidden_cache e/.gitignore\nhidden_cache e/CACHEDIR.TAG\n",
		},
		"in large numbers": {
			func(s *sandbox) { s.append(".gitignore", "dist\n"); s.many("dist/x", 30); s.many("d/dist", 3) }, "M .gitignore\n",
			"hidden d/dist/000\nhidden d/dist/001\nhidden d/dist/002\nhidden dist/ 30\n",
		},
		"in a large cache": {func(s *sandbox) {
			s.append(".gitignore", "dist\n")
			s.many("dist", 30)
			s.write("dist/CACHEDIR.TAG", cacheTag)
		}, "M .gitignore\n", "hidden_cache dist/ 31\n"},
		"by rules outside": {func(s *sandbox) {
			s.write(".git/info/exclude", "*.tmp\nnew\n")
			s.write("new", "")
			s.write("y.tmp", "")
		}, "", "hidden new\n"},
		"by the user's rules": {func(s *sandbox) { s.home(".config/git/ignore", "new\n"); s.write("new", "") }, "", "hidden new\n"},
		"by rules elsewhere": {func(s *sandbox) {
			s.home("mine", "new\n")
			s.git("config", "core.excludesFile", "~/mine")
			s.write("new", "")
		}, "", "hidden new\n"},
		"by case": {func(s *sandbox) { s.git("config", "core.ignoreCase", "true"); s.write("y.LOG", "") }, "", "hidden y.LOG\n"},
		"by rules in the index": {func(s *sandbox) {
			s.write("d/.gitignore", "new\n")
			s.git("add", "d/.gitignore")
			s.git("update-index", "--skip-worktree", "d/.gitignore")
			s.remove("d/.gitignore")
			s.write("d/new", "")
		}, "A d/new\n", ""},
		"what was seen": {func(s *sandbox) { s.append(".gitignore", "a\n"); s.append("a", "more\n") }, "M .gitignore\nM a\n", ""},
		"a link":        {func(s *sandbox) { s.append(".gitignore", "new\n"); s.link("a", "new") }, "M .gitignore\n", "hidden new\n"},
		"attributes": {func(s *sandbox) {
			s.append(".gitignore", ".git*\n")
			s.write("d/.gitattributes", "* text\n")
			s.write(".gitmodules", "")
		}, "M .gitignore\nA .gitmodules\nA d/.gitattributes\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newRepo(t)
			before(s)
			tree := s.begin()
			base, err := tree.Checkpoint(t.Context(), tree.BaseState(), "s/0", "base")
			s.must(err)
			c.change(s)
			for i, tree := range []*diff.Tree{tree, tree, s.resumed(base)} {
				if got := s.capture(tree); summary(got) != c.files || notShown(got) != c.want {
					t.Errorf("look %d: changed\n%snot shown\n%swant\n%s%s", i, summary(got), notShown(got), c.files, c.want)
				}
			}
		})
	}
}

// TestHiddenInNests: a nested repository has ignore rules of its own, which apply only
// there.
func TestHiddenInNests(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.write("a", "a\n")
	for _, dir := range []string{"inner", "d/inner"} {
		s.write(dir+"/f", "f\n")
		s.write(dir+"/.gitignore", "*.log\n")
		s.gitIn(s.path(dir), "init", "-q")
		s.gitIn(s.path(dir), "add", ".")
		s.gitIn(s.path(dir), "commit", "-q", "-m", "first")
		s.write(dir+"/.cache/.gitignore", "*\n")
		s.write(dir+"/.cache/old", "old\n")
	}
	s.git("add", "a")
	s.git("commit", "-q", "-m", "first")
	tree := s.begin()
	base, err := tree.Checkpoint(t.Context(), tree.BaseState(), "s/0", "base")
	s.must(err)
	s.write(".gitignore", "*.out\nnew\n")
	s.write("d/.gitignore", "new\n")
	s.write("new", "")
	s.write("inner/new", "")
	s.write("d/inner/.gitignore", "new\n.gitignore\n")
	s.write("d/inner/new", "")
	s.write("d/inner/x.log", "")
	s.write("inner/.cache/new", "")
	s.write("inner/e/.gitignore", "*\n")
	s.write("inner/e/f", "")
	want := "hidden d/inner/new\nhidden inner/e/.gitignore\nhidden inner/e/f\nhidden new\n"
	for how, tree := range map[string]*diff.Tree{"": tree, "resumed: ": s.resumed(base)} {
		c := s.capture(tree)
		if notShown(c) != want || summary(c) != "A .gitignore\nA d/.gitignore\nM d/inner/.gitignore\nA d/inner/x.log\nA inner/new\n" {
			t.Errorf("%s%s%s", how, notShown(c), summary(c))
		}
	}
}

// TestHiddenText: the content of a few hidden files is reported, except for files that
// usually contain secrets.
func TestHiddenText(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.write("a", "a\n")
	s.commit("first")
	tree := s.begin()
	s.write(".gitignore", ".gitignore\nnew\n.env\n*.bin\nlink\nlarge\n")
	s.write("new", "one\ntwo\x00\n")
	s.write(".env", "KEY=1\n")
	s.write("x.bin", strings.Repeat("\x00\x01\x02\x03", 100))
	s.write("large", strings.Repeat("line\n", 100_000))
	s.link("somewhere", "link")
	c, err := tree.Capture(t.Context())
	s.must(err)
	texts := map[string]string{}
	for _, u := range c.Unshown {
		texts[u.Path] = u.Text
	}
	for name, want := range map[string]string{"new": "@@ -0,0 +1,2 @@\n+one\n+two\\x00\n", "link": "new file mode 120000\n"} {
		if !strings.Contains(texts[name], want) {
			t.Errorf("%s: %q", name, texts[name])
		}
	}
	for _, name := range []string{".env", "x.bin", "large"} {
		if text, told := texts[name]; !told || text != "" {
			t.Errorf("%s: %v %q", name, told, text)
		}
	}
	want := "git ignores these paths by rules that are new since the session began, so that no diff shows them: .env, large, link, new, x.bin"
	if !slices.Equal(c.Warnings, []string{want}) {
		t.Errorf("warnings %q", c.Warnings)
	}
}

// TestHiddenCrowd: hidden files in a directory with visible ones are named, the topmost
// first, and the rest is counted.
func TestHiddenCrowd(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.write("d/seen", "a\n")
	s.commit("first")
	tree := s.begin()
	s.write(".gitignore", "d/*\nz\n")
	s.many("d", 600)
	s.write("z", "z\n")
	c, err := tree.Capture(t.Context())
	s.must(err)
	last, counted := c.Unshown[len(c.Unshown)-1], 0
	for _, u := range c.Unshown {
		if u.Files > 0 {
			counted += u.Files
		}
	}
	if last.Path != "z" || counted != 101 || len(c.Unshown) != 501 {
		t.Errorf("%d named, %d counted, %v last", len(c.Unshown), counted, last)
	}
}

// TestHiddenRestored: restoring a state without an ignore file that ignores itself leaves
// the file and what it hides alone; restoring a state with it brings it back.
func TestHiddenRestored(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.write("d/seen", "a\n")
	s.commit("first")
	s.write(".venv/.gitignore", "*\n")
	s.write("e/.gitignore", ".gitignore\nlocal\n")
	s.write("e/local", "local\n")
	s.write("e/seen", "seen\n")
	tree := s.begin()
	s.write("d/.gitignore", ".gitignore\nnew\n")
	s.write("d/new", "new\n")
	hiding, err := tree.Capture(t.Context())
	s.must(err)
	s.restore(tree, loop.Change{State: tree.BaseState()})
	for name, want := range map[string]bool{"d/.gitignore": true, "d/new": true, ".venv/.gitignore": true, "e/.gitignore": true, "e/local": true} {
		if s.exists(name) != want {
			t.Errorf("%s is there: %v", name, !want)
		}
	}
	s.remove("d/.gitignore")
	s.restore(tree, hiding)
	if !s.exists("d/.gitignore") {
		t.Error("d/.gitignore has not come back")
	}
	s.write(".venv/new", "new\n")
	s.write("cache/.gitignore", "*\n")
	s.write("cache/new", "new\n")
	s.restore(tree, loop.Change{State: tree.BaseState()})
	for _, name := range []string{".venv/new", "cache/.gitignore", "cache/new"} {
		if !s.exists(name) {
			t.Errorf("%s is gone, though it was ignored", name)
		}
	}
}

// TestDecidersComeAndGo: each capture decides anew whether a whole directory is hidden,
// even if the directory itself has not changed.
func TestDecidersComeAndGo(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.write("a", "a\n")
	s.commit("first")
	tree, o := s.begin(), newOracle(s)
	s.write("d/.gitignore", ".gitignore\n")
	s.write("d/e/f", "f\n")
	settle()
	for _, step := range []func(){func() {}, func() { s.remove("d/e/f") }, func() { s.write("d/e/f", "f\n") }, func() { s.remove("d/e/f") }, func() { s.write("d/g", "g\n") }} {
		step()
		settle()
		o.capture(tree)
	}
}

// TestIgnoredSettings: settings files that git ignores are reported when they are new or
// have changed, but without their content.
func TestIgnoredSettings(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.write(".gitignore", ".agent/\n*.local\n")
	s.write("sub/a", "a\n")
	s.commit("first")
	for _, name := range []string{".agent/same", ".agent/changed", ".agent/gone", "sub/x.local"} {
		s.write(name, "before\n")
	}
	open := func() *diff.Tree {
		o := s.options()
		o.Settings = []string{".agent", "x.local", "y.local", "a"}
		tree, err := diff.Open(t.Context(), s.path("sub"), o)
		s.must(err)
		s.must(tree.KeepIn(s.own))
		s.trees = append(s.trees, tree)
		return tree
	}
	tree := open()
	s.must(tree.Baseline(t.Context()))
	base, err := tree.Checkpoint(t.Context(), tree.BaseState(), "s/0", "base")
	s.must(err)
	if c := s.capture(tree); notShown(c) != "" {
		t.Errorf("before the change: %s", notShown(c))
	}
	s.write(".agent/changed", "after\n")
	s.write(".agent/d/new", "after\n")
	s.write("sub/x.local", "after\n")
	s.write("sub/y.local", "after\n")
	s.write("sub/a", "after\n")
	s.remove(".agent/gone")
	again := open()
	s.must(again.Resume(t.Context(), base))
	want := "ignored_settings .agent/changed (modified)\nignored_settings .agent/d/new\nignored_settings .agent/gone (deleted)\n" +
		"ignored_settings sub/x.local (modified)\nignored_settings sub/y.local\n"
	for how, tree := range map[string]*diff.Tree{"": tree, "resumed: ": again} {
		c := s.capture(tree)
		if notShown(c) != want || summary(c) != "M sub/a\n" || slices.ContainsFunc(c.Unshown, func(u loop.Unshown) bool { return u.Text != "" }) {
			t.Errorf("%s%s%s", how, notShown(c), summary(c))
		}
		if len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], "settings of agents") {
			t.Errorf("warnings %q", c.Warnings)
		}
	}
}

// TestHiddenUnreadable: an unreadable directory does not prevent the report on the other
// hidden files.
func TestHiddenUnreadable(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 {
		t.Skip("root reads everything")
	}
	s := newRepo(t)
	s.write("a", "a\n")
	s.commit("first")
	tree := s.begin()
	s.write(".gitignore", "d\nnew\n")
	s.write("d/f", "f\n")
	s.write("new", "new\n")
	s.chmod("d", 0)
	s.chmod("new", 0)
	c, err := tree.Capture(t.Context())
	s.must(err)
	s.chmod("d", 0o700)
	if notShown(c) != "hidden new\n" {
		t.Error(notShown(c))
	}
}

// unshown returns what a change says of a path that it does not show, or nil.
func unshown(c loop.Change, path string) *loop.Unshown {
	for _, u := range c.Unshown {
		if u.Path == path {
			return &u
		}
	}
	return nil
}
