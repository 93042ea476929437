package place_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
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

// state returns a commit of a work tree as it is, whatever its index says, as a checkpoint has it.
func (s scene) state(dir string) string {
	s.Helper()
	index := filepath.Join(s.TempDir(), "index")
	call := git.Call{Dir: dir, Env: []string{"GIT_INDEX_FILE=" + index, "GIT_DIR=" + s.CommonDir, "GIT_WORK_TREE=" + dir}}
	out := ""
	for _, args := range [][]string{{"add", "--all", "."}, {"write-tree"}} {
		var err error
		out, err = s.Do(s.Context(), call, args...)
		s.must(err)
	}
	call.Env = append(call.Env, "GIT_AUTHOR_NAME=x", "GIT_AUTHOR_EMAIL=x", "GIT_COMMITTER_NAME=x", "GIT_COMMITTER_EMAIL=x")
	out, err := s.Do(s.Context(), call, "commit-tree", "-m", "state", out)
	s.must(err)
	return out
}

func (s scene) judged(start, end string) *place.Judged {
	return &place.Judged{Start: start, End: end, Objects: []string{s.Objects()}}
}

// finish has a critic approve all that a place has.
func (s scene) finish(p *place.Place) (string, error) {
	s.Helper()
	return p.Commit(s.Context(), "# work\n\nthe rest\n\nTask: t\n", s.judged(p.Start(), s.state(p.Dir)))
}

func (s scene) commit(p *place.Place) string {
	s.Helper()
	head, err := s.finish(p)
	s.must(err)
	return head
}

// again opens a place with a result for further work on what main is now.
func (s scene) again(head string) *place.Place {
	s.Helper()
	p, err := s.site.Open(s.Context(), place.Task{Name: "t", Base: s.Git("rev-parse", "main"), Head: head})
	s.must(err)
	return p
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
	if got := s.Git("show", "--format=%B%an <%ae>", "--name-status", head); got != "# work\n\nthe rest\n\nTask: t\nUser <user@example.com>\n\nD\tfirst\nA\tsub/new" {
		t.Errorf("committed %q", got)
	}
	if s.Git("rev-parse", "codeloops/t.1-a") != head {
		t.Error("the branch is not at the commit")
	}
	if s.Untouched() != before {
		t.Error("the user's HEAD, index or files have changed")
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
	if who := s.Git("log", "-1", "--format=%an <%ae>, %cn <%ce>", "codeloops/t"); who != "codeloops <codeloops@localhost>, codeloops <codeloops@localhost>" {
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
	_, err := p.Commit(t.Context(), "é\n", s.judged(p.Start(), s.state(p.Dir)))
	s.must(err)
	if message := s.Git("-c", "i18n.logOutputEncoding=UTF-8", "log", "-1", "--format=%s", "codeloops/t"); message != "é" {
		t.Errorf("the message is %q", message)
	}
}

// TestOwnCommits: commits that an agent has made are not part of the history, as no critic has seen them; what they have
// is, as far as it was approved.
func TestOwnCommits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		commands string
		want     string // subjects
	}{
		"on another branch": {"git switch -q -c feature; echo 1 >one; git add one; git commit -qm one; echo 2 >two", "# work, rules"},
		"all of it":         {"echo 1 >one; echo 2 >two; git add .; git commit -qm both", "# work, rules"},
		"with a secret":     {"echo 1 >one; git add -f one .env; git commit -qm one; git rm -q --cached .env; echo 2 >two", "# work, rules"},
		"elsewhere":         {"git checkout -q --orphan other; echo 1 >one; echo 2 >two; git add .; git commit -qm one", "# work, rules"},
		"damaged":           {"echo 1 >one; echo 2 >two; echo x >.git/HEAD", "# work, rules"},
		"gone":              {"echo 1 >one; echo 2 >two; rm -rf .git", "# work, rules"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.Write(".gitignore", ".env\n")
			s.Write(".worktreeinclude", ".env\n")
			s.Write(".env", "secret\n")
			s.Save("rules")
			p := s.open("t")
			s.sh(p.Dir, c.commands)
			head := s.commit(p)
			if got := s.Git("ls-tree", "--name-only", head); got != ".gitignore\n.worktreeinclude\nfirst\none\ntwo" {
				t.Errorf("it has %q", got)
			}
			if got := strings.ReplaceAll(s.Git("log", "--format=%s", head, "^main~1"), "\n", ", "); got != c.want {
				t.Errorf("the commits are %q, want %q", got, c.want)
			}
			if got := s.commit(s.again(head)); got != head {
				t.Errorf("it was committed again, as %s", got)
			}
			s.Git("fsck", "--strict", "--connectivity-only")
		})
	}
}

// sh runs shell commands in a directory, with git as the tests have it.
func (s scene) sh(dir, commands string) {
	s.Helper()
	cmd := exec.CommandContext(s.Context(), "sh", "-ec", commands)
	cmd.Dir, cmd.Env = dir, s.Environ
	if out, err := cmd.CombinedOutput(); err != nil {
		s.Fatalf("%s: %v\n%s", commands, err, out)
	}
}

// TestOwn: what commands do in a place to refs, a stash, settings and hooks stays there, and they find those that the
// repository had. A damaged repository is made again.
func TestOwn(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.Write("scripts/hook", "#!/bin/sh\necho hooked >&2\n")
	s.must(os.Chmod(filepath.Join(s.Root, "scripts/hook"), 0o700))
	s.must(os.MkdirAll(filepath.Join(s.CommonDir, "hooks"), 0o700))
	s.must(os.Symlink("../../scripts/hook", filepath.Join(s.CommonDir, "hooks", "pre-commit")))
	s.Write("shared.config", "[alias]\n\tshared = version\n")
	s.Git("add", "shared.config")
	s.Git("commit", "--quiet", "--no-verify", "-m", "shared")
	s.Git("config", "include.path", "../shared.config")
	s.Write("first", "stashed\n")
	s.Git("stash", "--quiet")
	s.Git("pack-refs", "--all")
	before := s.Git("for-each-ref") + s.Text(s.CommonDir, "config") + s.Untouched()
	p := s.open("t")
	if got := s.In(p.Dir, "config", "alias.shared"); got != "version" {
		t.Errorf("the alias is %q", got)
	}
	if text := s.Text(p.Dir, ".git/hooks/pre-commit"); !strings.Contains(text, "hooked") {
		t.Errorf("the hook is %q", text)
	}
	s.sh(p.Dir, `test -z "$(git status --porcelain; git stash list)"; echo x >first; git stash -q; git config core.abbrev 9; git branch -f other
		git commit -q --no-verify --allow-empty -m x; git update-ref refs/heads/main HEAD; git gc -q --prune=now; git stash pop -q`)
	s.Git("update-ref", "-d", "refs/codeloops/base/t")
	if now := s.Git("for-each-ref") + s.Text(s.CommonDir, "config") + s.Untouched(); now != before {
		t.Errorf("it is\n%s\nand was\n%s", now, before)
	}
	for _, harm := range []string{"rm -rf .git", "rm -rf .git; git init -q", "rm -rf .git; echo gitdir: /nowhere >.git", "echo >.git/objects/info/alternates"} {
		s.sh(p.Dir, harm)
		p = s.open("t")
		if got := s.In(p.Dir, "diff", "--stat"); !strings.Contains(got, "first") {
			t.Errorf("after %q the work is %q", harm, got)
		}
	}
	if got := s.Git("show", s.commit(p)+":first"); got != "x" {
		t.Errorf("it has %q", got)
	}
}

// TestOwnLocated: settings about where a git directory is are not those of a work tree's own.
func TestOwnLocated(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]string{
		"work tree": "git config core.worktree \"$PWD\"",
		"bare":      "git config core.bare true; git config extensions.worktreeConfig true; git config --worktree core.sparseCheckout false",
		"of each":   "git config extensions.worktreeConfig true; git config --worktree core.worktree \"$PWD\"",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.sh(s.Root, config)
			p := s.open("t")
			s.Put(p.Dir, "new", "new\n")
			if top, got := s.In(p.Dir, "rev-parse", "--show-toplevel"), s.In(p.Dir, "status", "--porcelain"); top != p.Dir || got != "?? new" {
				t.Errorf("in %s it has %q", top, got)
			}
		})
	}
}

// TestTreeGone: a deleted work tree is made again from the last result, with the files that are copied into it.
func TestTreeGone(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.Write(".gitignore", ".env\n")
	s.Write(".worktreeinclude", ".env\n")
	s.Write(".env", "secret\n")
	s.Save("rules")
	p := s.open("t")
	s.Put(p.Dir, "done", "done\n")
	head := s.commit(p)
	s.must(os.RemoveAll(p.Dir))
	p = s.again(head)
	s.is(p, "done", "done\n")
	s.is(p, ".env", "secret\n")
	if s.commit(p) != head {
		t.Error("the work tree differs from the last result")
	}
}

// TestForeignBranch: a branch that codeloops has not put where it is gets no result, and is no result.
func TestForeignBranch(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	p := s.open("t")
	s.Put(p.Dir, "new", "new\n")
	s.Git("update-ref", "refs/heads/codeloops/t", s.Git("commit-tree", "-p", "main", "-m", "evil", "main^{tree}"))
	_, err := s.finish(p)
	s.refused(err, "codeloops/t is at", "where codeloops has not put it")
	if !errors.Is(err, place.ErrUnjudged) {
		t.Errorf("nobody is asked: %v", err)
	}
	_, err = s.site.Open(t.Context(), place.Task{Name: "t", Base: p.Start()})
	s.refused(err, "where codeloops has not put it")
	s.Git("branch", "-m", "codeloops/t", "kept")
	s.commit(s.open("t"))
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
	s.Git("switch", "-q", "-c", "codeloops/mine")
	s.refused(open("mine", base), "codeloops/mine is checked out in "+s.Root)
	_, err := place.New(s.Repo.Repo, filepath.Join(s.Root, "sub"))
	s.refused(err, "part of it")

	s = newScene(t)
	s.Git("branch", "codeloops")
	s.refused(open("t", base), "there is a branch codeloops, so")
}

func TestOpenRepository(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.Git("config", "core.worktree", "/nowhere")
	r, err := git.Open(s.Root, s.Starter, append(s.Environ, "GIT_DIR=/nowhere"))
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
	_, err := s.site.Open(t.Context(), place.Task{Name: "t", Base: p.Start()})
	s.refused(err, "is no longer a directory")
	s.removed(p)
	if s.Untouched() != before {
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
			head, err := s.finish(p)
			if err == nil {
				_, err = s.Run(t.Context(), s.Root, "branch", "done-"+name, head)
			}
			if err == nil {
				_, err = p.Discard(t.Context(), "")
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if left, _ := os.ReadDir(filepath.Join(filepath.Dir(s.site.Dir("t")), "../records")); len(left) > 0 || s.Git("for-each-ref", "refs/codeloops") != "" {
		t.Errorf("left %v", left)
	}
}
