package diff_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestExcludesOfALinkedWorkTree: info/exclude applies to all work trees of a repository.
func TestExcludesOfALinkedWorkTree(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	filled(s)
	s.write(".git/info/exclude", "*.log\n")
	linked := filepath.Join(s.base, "linked")
	s.git("worktree", "add", "-q", linked, "-b", "linked")
	s.write(".git/worktrees/linked/info/exclude", "*.txt\n")
	common := s.path(".git/info/exclude")
	s.root = linked
	tree, o := s.begin(), newOracle(s)
	s.write("d/new.log", "new\n")
	s.write("d/new.txt", "new\n")
	if got := summary(o.capture(tree)); got != "A d/new.txt\n" {
		t.Errorf("captured %q", got)
	}
	s.must(os.WriteFile(common, nil, 0o644))
	if got := summary(o.capture(tree)); got != "A d/new.log\nA d/new.txt\n" {
		t.Errorf("captured %q", got)
	}
}

// TestRulesBehindALink: the user's ignore file may be a symlink, but an ignore file in a
// directory may not: it no longer counts when it is replaced by a link to it.
func TestRulesBehindALink(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		setup, change func(*sandbox)
		want          string
	}{
		"of the user": {
			setup: func(s *sandbox) {
				s.home("rules", "*.log\n")
				s.must(os.Symlink("rules", filepath.Join(s.base, "home/link")))
				s.git("config", "core.excludesFile", "~/link")
			},
			change: func(s *sandbox) { s.home("rules", "*.tmp\n") },
			want:   "A d/e/f/x.log\n",
		},
		"of the user, another target": {
			setup: func(s *sandbox) {
				s.home("rules", "*.log\n")
				s.home("others", "*.tmp\n")
				s.must(os.Symlink("rules", filepath.Join(s.base, "home/link")))
				s.git("config", "core.excludesFile", "~/link")
			},
			change: func(s *sandbox) {
				s.must(os.Rename(filepath.Join(s.base, "home/others"), filepath.Join(s.base, "home/rules")))
			},
			want: "A d/e/f/x.log\n",
		},
		"of the user, no target at first": {
			setup: func(s *sandbox) {
				s.must(os.Symlink("rules", filepath.Join(s.base, "home/link")))
				s.git("config", "core.excludesFile", "~/link")
			},
			change: func(s *sandbox) {
				s.write("d/e/f/new.log", "new\n")
				s.write("d/e/f/new.tmp", "new\n")
				s.home("rules", "*.log\n")
			},
			want: "A d/e/f/new.tmp\n",
		},
		"of a directory": {
			setup: func(s *sandbox) { s.write("d/.gitignore", "*.log\n") },
			change: func(s *sandbox) { // the file itself is untouched, including its time
				s.must(os.Rename(s.path("d"), s.path("away")))
				s.link("../away/.gitignore", "d/.gitignore")
				s.must(os.Rename(s.path("away/e"), s.path("d/e")))
			},
			want: "A away/.gitignore\nD d/.gitignore\nA d/.gitignore\nA d/e/f/x.log\n",
		},
	} {
		for age, ago := range map[string]time.Duration{"just written": 0, "written long ago": time.Hour} {
			t.Run(name+", "+age, func(t *testing.T) {
				t.Parallel()
				s := newRepo(t)
				s.now = func() time.Time { return time.Now().Add(ago) }
				s.write("a", "a\n")
				s.write("d/e/f/g", "g\n")
				s.commit("first")
				c.setup(s)
				s.write("d/e/f/x.log", "x\n")
				s.write("d/e/f/x.tmp", "x\n")
				settle()
				saving := s.open()
				s.must(saving.Baseline(t.Context()))
				commit, err := saving.Checkpoint(t.Context(), saving.BaseState(), "s/0", "base")
				s.must(err)
				s.must(saving.Close())
				tree, o := s.begin(), newOracle(s)
				o.capture(tree)
				c.change(s)
				settle()
				if got := summary(o.capture(tree)); got != c.want {
					t.Errorf("captured %q, want %q", got, c.want)
				}
				o.capture(s.resumed(commit))
			})
		}
	}
}
