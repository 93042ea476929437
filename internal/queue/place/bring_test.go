package place_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"codeloops/internal/queue/place"
)

// TestWorkTreeWithoutEnv: a new place has copies of the ignored files that .worktreeinclude names, and of no others.
func TestWorkTreeWithoutEnv(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	outside := filepath.Join(s.State, "outside")
	s.Put(outside, "secret", "secret\n")
	s.Write(".gitignore", ".env*\nnode_modules\nout\nnested/deep/\n*.key\nlinked\n")
	s.Write(".worktreeinclude", "# what tests need\n.env\nnode_modules\n/nested/deep/one\n*.key\n!not.key\nfirst\nuntracked\nnowhere\nlinked/secret\n")
	s.Write("tracked.key", "tracked\n")
	s.Git("add", "--force", "tracked.key")
	s.Save("rules")
	s.Write(".env", "A=1\n")
	s.must(os.Chmod(filepath.Join(s.Root, ".env"), 0o640))
	s.Write("sub dir/.env", "B=2\n")
	s.Write(".env.other", "no\n")
	s.Write("untracked", "no\n")
	s.Write("out/x", "no\n")
	s.Write("tracked.key", "changed by the user\n")
	s.Write("some.key", "key\n")
	s.Write("not.key", "no\n")
	s.Write("nested/deep/one", "1\n")
	s.Write("nested/deep/two", "no\n")
	s.Write("node_modules/tool/run", "#!/bin/sh\n")
	s.must(os.Chmod(filepath.Join(s.Root, "node_modules/tool/run"), 0o755))
	s.must(os.Mkdir(filepath.Join(s.Root, "node_modules/.bin"), 0o755))
	for link, to := range map[string]string{
		"node_modules/.bin/run": "../tool/run", "node_modules/out": outside, "node_modules/abs": filepath.Join(s.Root, "first"), "linked": outside,
	} {
		s.must(os.Symlink(to, filepath.Join(s.Root, link)))
	}
	before := s.Untouched()
	p := s.open("t")
	for path, want := range map[string]string{
		".env": "A=1\n", "sub dir/.env": "B=2\n", "some.key": "key\n", "nested/deep/one": "1\n", "node_modules/tool/run": "#!/bin/sh\n",
		"tracked.key": "tracked\n", ".env.other": "-", "untracked": "-", "out/x": "-", "not.key": "-", "nested/deep/two": "-", "linked": "-",
	} {
		s.is(p, path, want)
	}
	for path, mode := range map[string]os.FileMode{".env": 0o640, "node_modules/tool/run": 0o755} {
		if info, err := os.Lstat(filepath.Join(p.Dir, path)); err != nil || info.Mode() != mode {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	for link, to := range map[string]string{"node_modules/.bin/run": "../tool/run", "node_modules/out": outside, "node_modules/abs": filepath.Join(p.Dir, "first")} {
		if is, err := os.Readlink(filepath.Join(p.Dir, link)); err != nil || is != to {
			t.Errorf("%s links to %s, %v", link, is, err)
		}
	}
	s.Put(p.Dir, ".env", "changed by an agent\n")
	if s.Untouched() != before {
		t.Error("the user's HEAD, index or files have changed")
	}
}

// TestBroughtThroughLink: no file is copied through a committed symbolic link.
func TestBroughtThroughLink(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	outside := filepath.Join(s.State, "outside")
	s.must(os.Mkdir(outside, 0o700))
	s.must(os.Symlink(outside, filepath.Join(s.Root, "d")))
	base := s.Save("link")
	s.must(os.Remove(filepath.Join(s.Root, "d")))
	s.Write(".gitignore", ".env\n")
	s.Write(".worktreeinclude", ".env\n")
	s.Write("d/.env", "secret\n")
	_, err := s.site.Open(t.Context(), place.Task{Name: "t", Base: base})
	s.refused(err, "bring d/.env")
	if entries, _ := os.ReadDir(outside); len(entries) > 0 {
		t.Error("something was written outside of the work tree")
	}
}

// TestBroughtStaysOut: copied files are never committed, whatever an agent does.
func TestBroughtStaysOut(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.Write(".gitignore", ".env\nnode_modules/\n")
	s.Write(".worktreeinclude", ".env\nnode_modules\n")
	s.Write(".env", "secret\n")
	s.Write("node_modules/a", "a\n")
	s.Save("rules")
	p := s.open("t")
	s.Put(p.Dir, ".gitignore", "")
	s.Put(p.Dir, "new", "new\n")
	s.In(p.Dir, "add", ".env")
	head := s.commit(p)
	if names := s.Git("ls-tree", "-r", "--name-only", head); names != ".gitignore\n.worktreeinclude\nfirst\nnew" {
		t.Errorf("committed %q", names)
	}
	s.is(p, ".env", "secret\n")
	s.is(p, "node_modules/a", "a\n")
	s.Git("fsck", "--connectivity-only")
}

// TestBroughtWithoutWorkTrees: copies of work trees that agents have made below ignored directories are none.
func TestBroughtWithoutWorkTrees(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.Write(".gitignore", ".env\n.agent/\n")
	s.Write(".worktreeinclude", ".env\n.agent/\n")
	s.Write(".env", "secret\n")
	s.Write(".agent/settings", "settings\n")
	s.Save("rules")
	s.Git("worktree", "add", "--quiet", "--detach", ".agent/trees/x")
	s.Write(".agent/trees/x/.env", "other\n")
	p := s.open("t")
	s.is(p, ".env", "secret\n")
	s.is(p, ".agent/settings", "settings\n")
	s.is(p, ".agent/trees/x/.git", "-")
	s.is(p, ".agent/trees/x/first", "first\n")
}

// TestSetup: a failed setup command is an error and runs again; after it succeeded, it is not repeated.
func TestSetup(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.Write(".gitignore", "env\nruns\n")
	s.Write(".worktreeinclude", "env\n")
	s.Write("env", "here\n")
	base := s.Save("rules")
	task := place.Task{Name: "t", Base: base}
	task.Setup = "echo it begins; echo x >>runs; cat env nothing"
	_, err := s.site.Open(t.Context(), task)
	s.refused(err, "setup command", "exit code 1", "it begins\nhere\n", "nothing")
	if log := s.Text(filepath.Dir(filepath.Dir(s.site.Dir("t"))), "records/t~setup.log"); !strings.HasPrefix(log, "it begins\nhere\n") {
		t.Errorf("the log is %q", log)
	}
	task.Setup = "echo x >>runs; cat env"
	for range 2 {
		p, err := s.site.Open(t.Context(), task)
		s.must(err)
		s.is(p, "runs", "x\n")
	}
	if log := s.Text(filepath.Dir(filepath.Dir(s.site.Dir("t"))), "records/t~setup.log"); log != "here\n" {
		t.Errorf("the log is %q", log)
	}
}

// TestSetupStaysOut: what the setup command leaves is not part of the result, unless the session goes on from there, and
// is in the way of neither an update nor the removal.
func TestSetupStaysOut(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.Write("lock", "lock\n")
	s.Write("other", "other\n")
	base := s.Save("rules")
	p, err := s.site.Open(t.Context(), place.Task{
		Name: "t", Base: base, Dir: "pkg/a", Setup: "echo more >>../../lock; echo more >>../../other; echo stray >stray; ln -s nowhere ../../node_modules",
	})
	s.must(err)
	start := s.state(p.Dir)
	s.Put(p.Dir, "new", "new\n")
	s.Put(p.Dir, "other", "whole\n")
	head, err := p.Commit(t.Context(), "m", s.judged(start, s.state(p.Dir)))
	s.must(err)
	if got := s.Git("show", "--format=", "--name-status", head); got != "A\tnew\nM\tother" {
		t.Errorf("committed %q", got)
	}
	s.is(p, "pkg/a/stray", "stray\n")
	s.Write("lock", "newer\n")
	s.Save("newer")
	p = s.again(head)
	s.is(p, "lock", "newer\n")
	s.Git("merge", "--quiet", "--ff-only", s.commit(p))
	s.removed(p)
}
