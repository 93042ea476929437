package diff_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"codeloops/internal/diff"
)

const override = "git may show or run something different from when the session began: "

// TestSways: settings that can make git mislead its user are reported with their values in
// each capture; settings that git writes during normal work are not.
func TestSways(t *testing.T) {
	t.Parallel()
	script := func(s *sandbox, name string) {
		s.write(name, "#!/bin/sh\n")
		s.chmod(name, 0o755)
	}
	for _, c := range []struct {
		name   string
		change func(*sandbox)
		want   string // "" for none; ID stands for the commit, SECOND for the one before it
	}{
		{"diff.external", func(s *sandbox) { s.git("config", "diff.external", "./liar\x1b") }, `diff.external = "./liar\x1b"`},
		{"textconv", func(s *sandbox) { s.git("config", "diff.Go.textconv", "true") }, `diff.Go.textconv = "true"`},
		{"a driver", func(s *sandbox) { s.git("config", "diff.x.command", "true") }, `diff.x.command = "true"`},
		{"binary", func(s *sandbox) { s.git("config", "diff.x.binary", "true") }, `diff.x.binary = "true"`},
		{"pager", func(s *sandbox) { s.git("config", "core.pager", "sed d") }, `core.pager = "sed d"`},
		{"pager of a command", func(s *sandbox) { s.git("config", "pager.diff", "false") }, `pager.diff = "false"`},
		{"fsmonitor", func(s *sandbox) { s.git("config", "core.fsmonitor", "./liar") }, `core.fsmonitor = "./liar"`},
		{"ssh", func(s *sandbox) { s.git("config", "core.sshCommand", "./liar") }, `core.sshcommand = "./liar"`},
		{"trust of times", func(s *sandbox) { s.git("config", "core.trustctime", "false") }, `core.trustctime = "false"`},
		{"untracked files", func(s *sandbox) { s.git("config", "status.showUntrackedFiles", "no") }, `status.showuntrackedfiles = "no"`},
		{"an alias", func(s *sandbox) { s.git("config", "alias.st", "!true") }, `alias.st = "!true"`},
		{"an address", func(s *sandbox) { s.git("config", "url.https://me:secret@x/.insteadOf", "https://y/") }, `url.https://…@x/.insteadof = "https://y/"`},
		{"a helper", func(s *sandbox) {
			s.git("config", "--add", "credential.helper", "a")
			s.git("config", "--add", "credential.helper", "b")
		}, `credential.helper = "a", "b"`},
		{"gpg", func(s *sandbox) { s.git("config", "gpg.program", "true") }, `gpg.program = "true"`},
		{"a merge driver", func(s *sandbox) { s.git("config", "merge.x.driver", "true") }, `merge.x.driver = "true"`},
		{"included", func(s *sandbox) {
			s.write(".git/more", "[diff]\n\texternal = true\n")
			s.git("config", "include.path", "more")
		}, `diff.external = "true"; include.path = "more"`},
		{"of the user", func(s *sandbox) {
			s.must(os.WriteFile(filepath.Join(s.base, "home", ".gitconfig"), []byte("[diff]\n\texternal = true\n"), 0o600))
		}, `diff.external = "true"`},
		{"of the work tree", func(s *sandbox) {
			s.git("config", "extensions.worktreeConfig", "true")
			s.git("config", "--worktree", "diff.external", "true")
		}, `diff.external = "true"`},
		{"no longer", func(s *sandbox) { s.git("config", "--unset", "diff.old.textconv") }, "diff.old.textconv (no longer)"},
		{"another value", func(s *sandbox) { s.git("config", "diff.old.textconv", "false") }, `diff.old.textconv = "false"`},
		{"a hook", func(s *sandbox) { script(s, ".git/hooks/post-checkout") }, "the hook .git/hooks/post-checkout"},
		{"a changed hook", func(s *sandbox) { s.append(".git/hooks/pre-commit", "exit 1\n") }, "the hook .git/hooks/pre-commit"},
		{"a removed hook", func(s *sandbox) { s.remove(".git/hooks/pre-commit") }, "the hook .git/hooks/pre-commit (no longer)"},
		{"a hook that begins to run", func(s *sandbox) { s.chmod(".git/hooks/pre-push", 0o755) }, "the hook .git/hooks/pre-push"},
		{"hooks elsewhere", func(s *sandbox) {
			script(s, ".git/mine/pre-commit")
			s.git("config", "core.hooksPath", ".git/mine")
		}, `core.hookspath = ".git/mine"; the hook .git/hooks/pre-commit (no longer); the hook .git/mine/pre-commit`},
		{"a replaced object", func(s *sandbox) { s.git("replace", "HEAD~", "HEAD") }, "refs/replace/SECOND, which is shown as ID"},
		{"a packed replacement", func(s *sandbox) { s.git("replace", "HEAD~", "HEAD"); s.git("pack-refs", "--all") }, "refs/replace/SECOND, which is shown as ID"},
		{"grafts", func(s *sandbox) { s.write(".git/info/grafts", "x\n") }, ".git/info/grafts"},
		{"assumed", func(s *sandbox) { s.git("update-index", "--assume-unchanged", "a") }, "assume-unchanged is set for a"},
		{"skipped", func(s *sandbox) { s.git("update-index", "--skip-worktree", "a", "b") }, "skip-worktree is set for a, b"},
		{"many", func(s *sandbox) {
			for i := range 30 {
				s.git("config", fmt.Sprintf("diff.a%02d.textconv", i), "true")
			}
			s.git("config", "diff.external", "true")
			s.git("config", "gpg.program", "true")
		}, `diff.external = "true"; diff.a00.textconv = "true"; diff.a01.textconv = "true"; diff.a02.textconv = "true"; diff.a03.textconv = "true"; gpg.program = "true"; 26 more of diff`},
		{"long", func(s *sandbox) { s.git("config", "diff.external", strings.Repeat("é", 300)) }, `diff.external = "` + strings.Repeat("é", 200) + `…"`},

		{"as people work", func(s *sandbox) {
			s.git("config", "user.name", "me")
			s.git("config", "color.ui", "always")
			s.git("config", "pull.rebase", "true")
			s.git("remote", "add", "origin", "https://me:secret@example.com/x")
			s.git("config", "remote.origin.pushurl", "https://example.com/y")
			s.git("checkout", "-q", "-b", "other")
			s.git("branch", "-q", "--set-upstream-to", "main")
			s.write("c", "c\n")
			s.commit("c")
			s.git("tag", "v1")
			s.git("stash")
			s.git("gc", "-q")
			s.git("status")
			s.git("worktree", "add", "-q", filepath.Join(s.base, "wt"))
		}, ""},
		{"a hook that git does not run", func(s *sandbox) {
			s.write(".git/hooks/post-merge", "#!/bin/sh\n")
			script(s, ".git/hooks/post-merge.sample")
			s.must(os.Mkdir(s.path(".git/hooks/post-commit"), 0o755))
		}, ""},
		{"put back", func(s *sandbox) {
			s.git("config", "diff.external", "true")
			s.git("config", "--unset", "diff.external")
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newRepo(t)
			s.write("a", "a\n")
			s.commit("first")
			second := s.git("rev-parse", "HEAD")
			s.write("b", "b\n")
			s.commit("second")
			names := strings.NewReplacer("SECOND", second, "ID", s.git("rev-parse", "HEAD"))
			s.git("config", "diff.old.textconv", "cat")
			script(s, ".git/hooks/pre-commit")
			s.write(".git/hooks/pre-push", "#!/bin/sh\n")
			tree := s.begin()
			base, err := tree.Checkpoint(t.Context(), tree.BaseState(), "s/0", "base")
			s.must(err)
			c.change(s)
			want := ""
			if c.want != "" {
				want = names.Replace(override + c.want)
			}
			for i, tree := range []*diff.Tree{tree, tree, s.resumed(base)} {
				change := s.capture(tree)
				if got := strings.Join(change.Git, "\n"); got != want {
					t.Errorf("look %d: got  %q\nwant %q", i, got, want)
				}
				if told := strings.Join(change.Warnings, "\n"); !strings.Contains(told, want) {
					t.Errorf("look %d: warnings %q", i, told)
				}
			}
		})
	}
}

// TestSwaysOfARepositoryElsewhere: the session reports if git is directed to another
// repository than the one in which the session began.
func TestSwaysOfARepositoryElsewhere(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.write("a", "a\n")
	s.commit("first")
	s.must(os.Rename(s.path(".git"), filepath.Join(s.base, "own.git")))
	s.write(".git", "gitdir: ../own.git\n")
	tree := s.begin()
	s.gitIn(s.base, "clone", "-q", "--bare", "own.git", "other.git")
	s.gitIn(filepath.Join(s.base, "other.git"), "config", "core.bare", "false")
	s.write(".git", "gitdir: ../other.git\n")
	c, err := tree.Capture(t.Context())
	s.must(err)
	if want := "the repository that git finds is " + s.base + "/other.git"; !strings.Contains(strings.Join(c.Git, "\n"), want) {
		t.Errorf("got %q, want %q", c.Git, want)
	}
	s.write(".git", "gitdir: ../own.git\n")
	if c, err = tree.Capture(t.Context()); err != nil || c.Git != nil {
		t.Errorf("undone: %q, %v", c.Git, err)
	}
}
