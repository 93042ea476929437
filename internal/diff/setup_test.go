package diff_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// TestSetup: changes of git's setup that can hide changes, and are in no diff, are
// reported.
func TestSetup(t *testing.T) {
	t.Parallel()
	const since = "the setup of git has changed since the session began; no diff shows that, and it can hide changes: "
	shows := map[string]string{ // in the diff; the others show nothing
		"nested": "A d/new\n", "filtered": "M a\n", "rules in the index only": "A hidden\n", "rules of a repository inside": "A old/new\n", "repository in a form that is not known": "A d/file\n",
	}
	for _, c := range []struct {
		name   string
		change func(*sandbox)
		want   string
	}{
		{"ignored", func(s *sandbox) {
			s.write(".git/info/exclude", "new\n")
			s.write("new", "new\n")
		}, since + ".git/info/exclude"},
		{"ignored by the user", func(s *sandbox) {
			s.must(os.MkdirAll(filepath.Join(s.base, "home", ".config", "git"), 0o755))
			s.must(os.WriteFile(filepath.Join(s.base, "home", ".config", "git", "ignore"), []byte("new\n"), 0o644))
			s.write("new", "new\n")
		}, since + "BASE/home/.config/git/ignore"},
		{"ignored elsewhere", func(s *sandbox) {
			s.write(".git/mine", "new\n")
			s.write("new", "new\n")
			s.git("config", "core.excludesFile", ".git/mine")
		}, since + `.git/mine, core.excludesfile = ".git/mine"`},
		{"filtered", func(s *sandbox) {
			s.git("config", "filter.h.clean", "git cat-file blob HEAD:a")
			s.write(".git/info/attributes", "a filter=h\n")
			s.write("a", "changed\n")
		}, since + `.git/info/attributes, filter.h.clean = "git cat-file blob HEAD:a"`},
		{"a filter with an odd name", func(s *sandbox) {
			s.git("config", "filter.\x1b.clean", "cat")
		}, since + `"filter.\x1b.clean" = "cat"`},
		{"modes", func(s *sandbox) {
			s.git("config", "core.fileMode", "false")
			s.chmod("a", 0o755)
		}, since + `core.filemode = "false"`},
		{"what was set and is not", func(s *sandbox) { s.git("config", "--unset", "filter.old.clean") }, since + "filter.old.clean"},
		{"nested", func(s *sandbox) {
			s.git("init", "-q", "d")
			s.write("d/new", "new\n")
		}, since + "d/.git"},
		{"rules of a repository inside", func(s *sandbox) {
			s.write("old/.git/info/exclude", "new\n")
			s.write("old/new", "new\n")
		}, since + "old/.git/info/exclude"},
		{"repository in a form that is not known", func(s *sandbox) {
			s.git("init", "-q", "--object-format=sha256", "d")
			s.write("d/file", "new\n")
			s.gitIn(s.path("d"), "add", "file")
			s.gitIn(s.path("d"), "commit", "-q", "-m", "first")
		}, since + "d/.git"},
		{"rules in the index only", func(s *sandbox) {
			s.write(".gitignore", "hidden\n")
			s.git("add", ".gitignore")
			s.git("update-index", "--skip-worktree", ".gitignore")
			s.remove(".gitignore")
			s.write("hidden", "new\n")
		}, since + ".gitignore in the index\n" + override + "skip-worktree is set for .gitignore"},
		{"other settings", func(s *sandbox) {
			s.git("config", "user.name", "me")
			s.git("checkout", "-q", "-b", "other")
			s.git("config", "branch.other.remote", "origin")
		}, ""},
	} {
		for _, longAgo := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, long ago %v", c.name, longAgo), func(t *testing.T) {
				t.Parallel()
				s := newRepo(t)
				s.write("a", "a\n")
				s.commit("first")
				s.git("config", "filter.old.clean", "cat")
				s.git("init", "-q", "old")
				s.write("old/file", "old\n")
				if longAgo {
					s.longAgo()
				}
				tree := s.begin()
				change, err := tree.Capture(t.Context())
				s.must(err)
				if change.Warnings != nil {
					t.Fatalf("before anything has changed: %q", change.Warnings)
				}
				c.change(s)
				for range 2 {
					change, err = tree.Capture(t.Context())
					s.must(err)
					var want []string
					if c.want != "" {
						want = strings.Split(strings.ReplaceAll(c.want, "BASE", s.base), "\n")
					}
					if got := ofSetup(change.Warnings); summary(change) != shows[c.name] || !reflect.DeepEqual(got, want) {
						t.Errorf("%s, warnings %q, want %q", summary(change), got, want)
					}
				}
			})
		}
	}
}

// ofSetup removes warnings about what a changed setup hides or converts.
func ofSetup(warnings []string) (others []string) {
	for _, w := range warnings {
		if !strings.HasPrefix(w, "git ignores these paths by rules") && !strings.HasPrefix(w, "git converts these") {
			others = append(others, w)
		}
	}
	return others
}

// TestSetupPutBack: a setup that is back in its initial state is not reported.
func TestSetupPutBack(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.write("a", "a\n")
	s.commit("first")
	s.write(".git/info/exclude", "")
	tree := s.begin()
	s.write(".git/info/exclude", "new\n")
	s.git("init", "-q", "d")
	change, err := tree.Capture(t.Context())
	s.must(err)
	if len(change.Warnings) != 1 || !strings.HasSuffix(change.Warnings[0], ": .git/info/exclude, d/.git") {
		t.Errorf("warnings %q", change.Warnings)
	}
	s.write(".git/info/exclude", "")
	s.remove("d")
	change, err = tree.Capture(t.Context())
	s.must(err)
	if change.Warnings != nil {
		t.Errorf("warnings %q", change.Warnings)
	}
}

// TestSetupOfAResumedSession: a resumed session knows git's initial setup and reports
// changes of it.
func TestSetupOfAResumedSession(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*sandbox)
		want   string
	}{
		"nothing":  {func(*sandbox) {}, ""},
		"exclude":  {func(s *sandbox) { s.write(".git/info/exclude", "new\n"); s.write("new", "new\n") }, ".git/info/exclude"},
		"filter":   {func(s *sandbox) { s.git("config", "filter.h.clean", "cat") }, `filter.h.clean = "cat"`},
		"was set":  {func(s *sandbox) { s.git("config", "--unset", "filter.old.clean") }, "filter.old.clean"},
		"in index": {func(s *sandbox) { s.git("update-index", "--no-skip-worktree", "d/.gitignore") }, "d/.gitignore in the index\n" + override + "skip-worktree (no longer)"},
		"another work tree": {func(s *sandbox) {
			other := filepath.Join(s.base, "other")
			s.must(os.Mkdir(other, 0o755))
			s.must(os.WriteFile(filepath.Join(other, "a"), []byte("a\n"), 0o644))
			s.write("a", "changed\n")
			s.git("config", "core.worktree", other)
		}, ".git/info/exclude, BASE/work/.git/info/exclude, core.worktree = \"BASE/other\""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newRepo(t)
			s.write("a", "a\n")
			s.write("d/.gitignore", "*.log\n")
			s.commit("first")
			s.git("update-index", "--skip-worktree", "d/.gitignore")
			s.remove("d/.gitignore")
			s.write(".git/info/exclude", "x\n")
			s.git("config", "filter.old.clean", "cat")
			tree := s.begin()
			base, err := tree.Checkpoint(t.Context(), tree.BaseState(), "s/0", "base")
			s.must(err)
			c.change(s)
			var want []string
			if c.want != "" {
				want = strings.Split("the setup of git has changed since the session began; no diff shows that, and it can hide changes: "+
					strings.ReplaceAll(c.want, "BASE", s.base), "\n")
			}
			again := s.open()
			s.must(again.Resume(t.Context(), base))
			change, err := again.Capture(t.Context())
			s.must(err)
			shows := map[string]string{"in index": "D d/.gitignore\n"}[name] // it is not there, and nothing leaves it out
			if got := ofSetup(change.Warnings); summary(change) != shows || !reflect.DeepEqual(got, want) {
				t.Errorf("%s, warnings %q, want %q", summary(change), got, want)
			}
		})
	}
}

// longAgo makes everything written so far look old.
func (s *sandbox) longAgo() {
	settle()
	s.now = func() time.Time { return time.Now().Add(time.Hour) }
}

// TestSetupInATick: a file that changed so soon after it was read that it may have the
// same times is read again.
func TestSetupInATick(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.write("a", "a\n")
	s.commit("first")
	s.write(".git/info/exclude", "old\n")
	tree := s.begin()
	s.write(".git/info/exclude", "new\n")
	change, err := tree.Capture(t.Context())
	s.must(err)
	if len(change.Warnings) != 1 {
		t.Errorf("warnings %q", change.Warnings)
	}
}

// TestSetupLongAgo: a change of an old file is found even if its time is set back.
func TestSetupLongAgo(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.write("a", "a\n")
	s.commit("first")
	s.write(".git/info/exclude", "old\n")
	info, err := os.Stat(s.path(".git/info/exclude"))
	s.must(err)
	s.longAgo()
	tree := s.begin()
	for i, text := range []string{"old\n", "new\n", "old\n", "old\n"} {
		settle()
		s.write(".git/info/exclude", text)
		s.must(os.Chtimes(s.path(".git/info/exclude"), time.Time{}, info.ModTime()))
		change, err := tree.Capture(t.Context())
		s.must(err)
		if told := change.Warnings != nil; told != (text == "new\n") {
			t.Errorf("%d: warnings %q", i, change.Warnings)
		}
	}
}

// TestLongNames: a warning shows only the beginning and end of a long path.
func TestLongNames(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.write("f", "f\n")
	s.commit("first")
	tree := s.begin()
	at := "begins/" + strings.Repeat(strings.Repeat("é", 60)+"/", 8) + "ends"
	s.write(at+"/new/f", "f\n")
	s.git("init", "-q", at+"/new")
	c, err := tree.Capture(t.Context())
	s.must(err)
	if len(c.Warnings) != 1 {
		t.Fatalf("warnings: %q", c.Warnings)
	}
	for _, part := range []string{"é…é", "ends/new/.git"} {
		if w := c.Warnings[0]; len(w) > 1000 || !utf8.ValidString(w) || !strings.Contains(w, part) {
			t.Errorf("%q is not in %q", part, w)
		}
	}
}
