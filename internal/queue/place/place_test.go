package place_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"codeloops/internal/proc"
	"codeloops/internal/queue/git"
	"codeloops/internal/queue/git/gittest"
	"codeloops/internal/queue/place"
	"codeloops/internal/wording/hint"
)

func TestMain(m *testing.M) {
	if proc.Keep() {
		return
	}
	os.Exit(m.Run())
}

// A scene is a user's repository with places.
type scene struct {
	*gittest.Repo
	site *place.Site
}

func at(r *gittest.Repo) scene {
	r.Helper()
	site, err := place.New(r.Repo, r.State)
	if err != nil {
		r.Fatal(err)
	}
	return scene{r, site}
}

func newScene(t *testing.T) scene {
	t.Helper()
	return at(gittest.New(t))
}

func (s scene) open(name string) *place.Place {
	s.Helper()
	p, err := s.site.Open(s.Context(), place.Task{Name: name, Base: s.Git("rev-parse", "main")})
	s.must(err)
	return p
}

func (s scene) must(err error) {
	s.Helper()
	if err != nil {
		advice, _ := hint.Of(err)
		s.Fatalf("%v (%s)", err, advice)
	}
}

// refused expects an error that contains some words and has a hint.
func (s scene) refused(err error, words ...string) {
	s.Helper()
	if err == nil {
		s.Errorf("no error, want one with %q", words)
		return
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			s.Errorf("%q lacks %q", err, word)
		}
	}
	if _, ok := hint.Of(err); !ok {
		s.Errorf("%q has no hint", err)
	}
}

func (s scene) commit(p *place.Place) string {
	s.Helper()
	head, err := p.Commit(s.Context(), "# work\n\nthe rest\n", nil)
	s.must(err)
	return head
}

// is compares the content of a file in a place.
func (s scene) is(p *place.Place, path, want string) {
	s.Helper()
	if got := s.Text(p.Dir, path); got != want {
		s.Errorf("%s is %q, want %q", path, got, want)
	}
}

// TestCommit: a commit has all changes but ignored files, and uses neither the user's hooks nor signing.
func TestCommit(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.Write(".gitignore", "*.o\n")
	base := s.Save("rules")
	before := s.Untouched()
	s.Put(s.CommonDir, "hooks/pre-commit", "#!/bin/sh\nexit 1\n")
	s.must(os.Chmod(filepath.Join(s.CommonDir, "hooks/pre-commit"), 0o700))
	s.Git("config", "commit.gpgSign", "true")
	s.Git("config", "gpg.program", "false")
	p := s.open("t.1-a")
	if head := s.commit(p); head != base {
		t.Errorf("committed %s although nothing has changed", head)
	}
	s.Put(p.Dir, "sub/new", "new\n")
	s.Put(p.Dir, "x.o", "ignored\n")
	s.must(os.Remove(filepath.Join(p.Dir, "first")))
	head := s.commit(p)
	if got := s.In(p.Dir, "show", "--format=%B%an <%ae>", "--name-status", head); got != "# work\n\nthe rest\nUser <user@example.com>\n\nD\tfirst\nA\tsub/new" {
		t.Errorf("committed %q", got)
	}
	if s.Git("rev-parse", "codeloops/t.1-a") != head || s.commit(p) != head {
		t.Error("the branch is not at the commit")
	}
	if s.Untouched() != before {
		t.Error("the user's HEAD, index or files have changed")
	}
}

// TestCommitHidden: work is committed although an agent has kept git from looking at it. Files that a sparse checkout
// leaves out are not taken for deleted.
func TestCommitHidden(t *testing.T) {
	t.Parallel()
	const all = "M\tfirst\nA\tnew\nD\tsecond"
	for name, c := range map[string]struct {
		hide func(s scene, dir string)
		want string
	}{
		"elsewhere": {func(s scene, dir string) {
			s.In(dir, "config", "extensions.worktreeConfig", "true")
			s.In(dir, "config", "--worktree", "core.worktree", s.Root)
		}, all},
		"bare": {func(s scene, dir string) {
			s.In(dir, "config", "extensions.worktreeConfig", "true")
			s.In(dir, "config", "--worktree", "core.bare", "true")
		}, all},
		"sparse": {func(s scene, dir string) {
			s.In(dir, "config", "extensions.worktreeConfig", "true")
			s.In(dir, "config", "--worktree", "core.sparseCheckout", "true")
			s.In(dir, "update-index", "--skip-worktree", "second")
		}, "M\tfirst\nA\tnew"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.Write("second", "second\n")
			s.Save("second")
			p := s.open("t")
			s.Put(p.Dir, "first", "changed\n")
			s.Put(p.Dir, "new", "new\n")
			s.must(os.Remove(filepath.Join(p.Dir, "second")))
			c.hide(s, p.Dir)
			if got := s.In(s.Root, "show", "--format=", "--name-status", s.commit(p)); got != c.want {
				t.Errorf("committed %q, want %q", got, c.want)
			}
		})
	}
}

// TestNobodyKnown: without a user in git's configuration, codeloops is the author.
func TestNobodyKnown(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.Environ = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.State, "GIT_CONFIG_NOSYSTEM=1"}
	p := s.open("t")
	s.Put(p.Dir, "new", "new\n")
	s.commit(p)
	if who := s.In(p.Dir, "log", "-1", "--format=%an <%ae>, %cn <%ce>"); who != "codeloops <codeloops@localhost>, codeloops <codeloops@localhost>" {
		t.Error(who)
	}
}

// TestOtherEncoding: messages are UTF-8, also where the user's own are not.
func TestOtherEncoding(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.Git("config", "i18n.commitEncoding", "latin1")
	p := s.open("t")
	s.Put(p.Dir, "new", "new\n")
	_, err := p.Commit(t.Context(), "é\n", nil)
	s.must(err)
	if message := s.Git("-c", "i18n.logOutputEncoding=UTF-8", "log", "-1", "--format=%s", "codeloops/t"); message != "é" {
		t.Errorf("the message is %q", message)
	}
}

// TestOwnCommits: commits that an agent made itself are part of the work, also on another branch.
func TestOwnCommits(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	p := s.open("t")
	s.In(p.Dir, "switch", "-q", "-c", "feature")
	s.Put(p.Dir, "one", "1\n")
	s.In(p.Dir, "add", ".")
	s.In(p.Dir, "commit", "-qm", "one")
	s.Put(p.Dir, "two", "2\n")
	head := s.commit(p)
	if names := s.In(p.Dir, "ls-tree", "--name-only", "codeloops/t"); names != "first\none\ntwo" || s.Git("rev-parse", "codeloops/t") != head {
		t.Errorf("the branch has %q", names)
	}
	s.In(p.Dir, "checkout", "-q", "--detach", "main")
	_, err := p.Commit(t.Context(), "m", nil)
	s.refused(err, "is no longer on its branch codeloops/t")
}

// TestRepaired: opening a place again repairs what is broken and keeps the work, and so does committing there: an
// agent may have renamed or removed its branch.
func TestRepaired(t *testing.T) {
	t.Parallel()
	// work makes a commit and leaves uncommitted changes.
	work := func(s scene) (p *place.Place, head string) {
		p = s.open("t")
		s.Put(p.Dir, "done", "done\n")
		head = s.commit(p)
		s.Put(p.Dir, "begun", "begun\n")
		s.must(os.Remove(filepath.Join(p.Dir, "first")))
		return p, head
	}
	admin := func(s scene, p *place.Place) string { return filepath.Join(s.CommonDir, "worktrees", p.Task) }
	for name, harm := range map[string]func(scene, *place.Place){
		"nothing": func(scene, *place.Place) {},
		"locks": func(s scene, p *place.Place) {
			for _, name := range []string{
				filepath.Join(admin(s, p), "index.lock"), filepath.Join(admin(s, p), "HEAD.lock"),
				filepath.Join(s.CommonDir, "refs/heads/codeloops/t.lock"),
			} {
				s.must(os.WriteFile(name, nil, 0o600))
			}
		},
		"branch gone":    func(s scene, _ *place.Place) { s.Git("update-ref", "-d", "refs/heads/codeloops/t") },
		"branch renamed": func(s scene, p *place.Place) { s.In(p.Dir, "branch", "-m", "feature") },
		"link gone":      func(s scene, p *place.Place) { s.must(os.Remove(filepath.Join(p.Dir, ".git"))) },
		"link broken":    func(s scene, p *place.Place) { s.Put(p.Dir, ".git", "gitdir: /nowhere\n") },
		"entry gone":     func(s scene, p *place.Place) { s.must(os.RemoveAll(admin(s, p))) },
		"entry and link gone": func(s scene, p *place.Place) {
			s.must(os.RemoveAll(admin(s, p)))
			s.must(os.Remove(filepath.Join(p.Dir, ".git")))
		},
		"another repository": func(s scene, p *place.Place) {
			s.must(os.Remove(filepath.Join(p.Dir, ".git")))
			s.In(p.Dir, "init", "-q")
		},
		"twin left": func(s scene, p *place.Place) {
			s.must(os.RemoveAll(admin(s, p)))
			s.Git("worktree", "add", "-q", "--no-checkout", p.Dir+"~", "codeloops/t")
		},
	} {
		if name != "twin left" { // by a process that was killed, so the work tree is opened again
			t.Run(name+", committed", func(t *testing.T) {
				t.Parallel()
				s := newScene(t)
				p, head := work(s)
				harm(s, p)
				if last := s.commit(p); s.Git("rev-parse", last+"^") != head || s.Git("rev-parse", "codeloops/t") != last {
					t.Error("commits are lost")
				}
			})
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			p, head := work(s)
			harm(s, p)
			p = at(s.Repo).open("t")
			if got := s.Git("rev-parse", "codeloops/t"); got != head {
				t.Errorf("the branch is at %s, want %s", got, head)
			}
			s.is(p, "begun", "begun\n")
			last := s.commit(p)
			if names := s.Git("ls-tree", "--name-only", last); names != "begun\ndone" {
				t.Errorf("committed %q", names)
			}
			if s.Git("rev-parse", last+"^") != head {
				t.Error("commits are lost")
			}
			s.Git("fsck", "--strict")
			s.Git("merge", "-q", "--ff-only", "codeloops/t")
			s.removed(p)
		})
	}
}

// TestTreeGone: a deleted work tree is restored from the last commit, with the files that are copied into it.
func TestTreeGone(t *testing.T) {
	t.Parallel()
	for _, prune := range []bool{false, true} {
		s := newScene(t)
		s.Write(".gitignore", ".env\n")
		s.Write(".worktreeinclude", ".env\n")
		s.Write(".env", "secret\n")
		s.Save("rules")
		p := s.open("t")
		s.Put(p.Dir, "done", "done\n")
		head := s.commit(p)
		s.must(os.RemoveAll(p.Dir))
		if prune {
			s.Git("worktree", "prune", "--expire=now")
		}
		p = s.open("t")
		s.is(p, "done", "done\n")
		s.is(p, ".env", "secret\n")
		if s.commit(p) != head {
			t.Error("the restored work tree differs from the last commit")
		}
	}
}

// TestRefused: names, bases and directories that cannot be used are refused with a hint.
func TestRefused(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	base := s.Git("rev-parse", "main")
	open := func(name, base string) error {
		_, err := s.site.Open(t.Context(), place.Task{Name: name, Base: base})
		return err
	}
	for _, name := range []string{"", "..", "a/b", "a..b", "-a", ".a", "a.", "a b", "a.lock", "a.LOCK", "a~", strings.Repeat("x", 101)} {
		s.refused(open(name, base), "cannot be the name of a task")
	}
	for _, no := range []string{strings.Repeat("a", 40), s.Git("rev-parse", "main^{tree}")} {
		if err := open("no-"+no[:6], no); err == nil || !strings.Contains(err.Error(), no) {
			t.Errorf("the base %s: %v", no, err)
		}
	}
	s.open("fix")
	s.refused(open("Fix", base), "task fix", "the same name as Fix")
	s.Git("branch", "codeloops/Other")
	s.refused(open("other", base), "codeloops/Other", "the same name as codeloops/other")
	s.Git("switch", "-q", "-c", "codeloops/mine")
	s.refused(open("mine", base), "codeloops/mine is checked out in "+s.Root)
	_, err := place.New(s.Repo.Repo, filepath.Join(s.Root, "sub"))
	s.refused(err, "part of it")

	s = newScene(t)
	s.Git("branch", "codeloops")
	s.refused(open("t", base), "there is a branch codeloops", "codeloops/t")
}

func TestOpenRepository(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	sub := filepath.Join(s.Root, "sub")
	s.must(os.Mkdir(sub, 0o700))
	s.must(os.Symlink(sub, filepath.Join(s.State, "link")))
	r, err := git.Open(filepath.Join(s.State, "link"), s.Starter, append(s.Environ, "GIT_DIR=/nowhere"))
	s.must(err)
	if r.Root != s.Root || r.CommonDir != s.CommonDir || r.ID() != s.ID() {
		t.Errorf("%+v", r)
	}
	_, err = git.Open(s.State, s.Starter, s.Environ)
	s.refused(err, "find the work tree of "+s.State)
}

// TestFind: a place is found in its own repository only, until it is removed.
func TestFind(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	other := newScene(t)
	other.State = s.State
	other = at(other.Repo)
	s.open("a")
	other.open("a")
	p, err := s.site.Find("a")
	s.must(err)
	if on := s.In(p.Dir, "branch", "--show-current"); on != "codeloops/a" {
		t.Errorf("it is on %s", on)
	}
	s.removed(p)
	if p, err = s.site.Find("a"); p != nil || err != nil {
		t.Errorf("%v, %v", p, err)
	}
	if p, err = other.site.Find("a"); p == nil || err != nil {
		t.Errorf("%v, %v", p, err)
	}
}

// TestLinkInPlace: a symbolic link in place of the work tree is not followed.
func TestLinkInPlace(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	p := s.open("t")
	s.must(os.RemoveAll(p.Dir))
	s.must(os.Symlink(s.Root, p.Dir))
	before := s.Untouched()
	_, err := s.site.Open(t.Context(), place.Task{Name: "t"})
	s.refused(err, "is no longer a directory")
	_, err = p.Discard(t.Context())
	s.refused(err, "is no longer a directory")
	if s.Untouched() != before || s.Git("rev-parse", "codeloops/t") == "" {
		t.Error("the user's HEAD, index or files have changed")
	}
}

// TestManyAtOnce: places of one repository can be opened, used and removed concurrently.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	base := s.Git("rev-parse", "main")
	var all sync.WaitGroup
	for n := range 12 {
		all.Go(func() {
			name := fmt.Sprintf("t%d", n)
			p, err := at(s.Repo).site.Open(t.Context(), place.Task{Name: name, Base: base})
			if err != nil {
				t.Error(err)
				return
			}
			s.Put(p.Dir, name, "new\n")
			head, err := p.Commit(t.Context(), name, nil)
			if err == nil {
				_, err = s.Run(t.Context(), s.Root, "branch", "done-"+name, head)
			}
			if err == nil {
				_, err = p.Discard(t.Context())
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if left, _ := os.ReadDir(filepath.Join(s.CommonDir, "worktrees")); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}
