package diff_test

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"codeloops/internal/diff"
	"codeloops/internal/loop"
)

// listing returns everything below a directory, with mode, time and content.
func listing(tb testing.TB, root string) map[string]string {
	tb.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if strings.HasPrefix(d.Name(), "codeloops-shadow-") { // where looks are free to write
			return fs.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		about := fmt.Sprint(info.Mode(), info.ModTime().UnixNano())
		if filepath.Ext(d.Name()) == ".pack" { // git touches one that has an object already
			about = fmt.Sprint(info.Mode())
		}
		switch {
		case info.Mode().IsRegular():
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			about += fmt.Sprintf(" %x", sha256.Sum256(content))
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			about += " " + target
		}
		all[path] = about
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return all
}

// TestNothingIsTouched: neither a baseline nor a capture writes to the work tree or the
// git directory.
func TestNothingIsTouched(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.write("f", "f\n")
	s.write("d/g", "g\n")
	s.link("f", "l")
	s.commit("first")
	s.git("branch", "other")
	s.write("staged", "s\n")
	s.git("add", "staged")
	s.append("f", "dirt\n")
	s.write(".git/hooks/pre-commit", "#!/bin/sh\nexit 1\n")
	s.stale("d/g")
	before := listing(t, s.base)
	tree := s.begin()
	if _, err := tree.Capture(t.Context()); err != nil {
		t.Fatal(err)
	}
	if after := listing(t, s.base); !maps.Equal(before, after) {
		t.Errorf("before %v\nafter %v", before, after)
	}
	s.append("d/g", "more\n")
	before = listing(t, s.base)
	if _, err := tree.Capture(t.Context()); err != nil {
		t.Fatal(err)
	}
	if after := listing(t, s.base); !maps.Equal(before, after) {
		t.Errorf("before %v\nafter %v", before, after)
	}
}

// checkCheckpoints stores the current state, resumes a session, and restores the initial state. Git
// must find both states, and its own files must be unchanged.
func (s *sandbox) checkCheckpoints(tree *diff.Tree, o *oracle) {
	s.t.Helper()
	ctx, c := s.t.Context(), o.capture(tree)
	own := s.gitOwn()
	base, err := tree.Checkpoint(ctx, tree.BaseState(), "test/0", "")
	s.must(err)
	last, err := tree.Checkpoint(ctx, c.State, "test/1", "")
	s.must(err)
	again := s.open()
	s.must(again.Resume(ctx, base))
	resumed, err := again.Capture(ctx)
	s.must(err)
	s.restore(tree, loop.Change{State: tree.BaseState()})
	if now := s.gitOwn(); !maps.Equal(now, own) {
		s.t.Errorf("git's own files were %v\nand are %v", own, now)
	}
	if resumed.Warnings = c.Warnings; !reflect.DeepEqual(resumed, c) {
		s.t.Errorf("resumed:\n%s\nwant:\n%s", resumed.Patch(), c.Patch())
	}
	for commit, want := range map[string]string{base: o.start, last: c.State} {
		if got := s.keptGit("rev-parse", commit+"^{tree}"); got != want {
			s.t.Errorf("kept the tree %s, not %s", got, want)
		}
		s.keptGit("rev-list", "--objects", "--quiet", "--no-object-names", commit)
	}
	if got := o.now(); got != o.start {
		s.t.Errorf("put back:\n%s", o.patch(got))
	}
}

// gitOwn returns the files in the git directory.
func (s *sandbox) gitOwn() map[string]string {
	s.t.Helper()
	dir := s.git("rev-parse", "--path-format=absolute", "--git-common-dir")
	dir, err := filepath.EvalSymlinks(dir)
	s.must(err)
	all := listing(s.t, dir)
	for path, about := range all { // git may update the time of a pack or a shared index
		if mode, rest, _ := strings.Cut(about, " "); strings.Contains(path, "objects") || strings.Contains(path, "sharedindex.") {
			_, content, _ := strings.Cut(rest, " ")
			all[path] = mode + content
		}
	}
	maps.DeleteFunc(all, func(_, about string) bool {
		return about[0] == 'd'
	})
	return all
}

// TestNothingIsAdded: content that is too large for memory goes to the private
// repository.
func TestNothingIsAdded(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.write("f", "f\n")
	s.commit("first")
	s.write("big", strings.Repeat("0123456789\n", 1<<18))
	before := listing(t, s.base)
	s.begin()
	for path, about := range listing(t, s.base) {
		if before[path] != about {
			t.Errorf("%s is %s, was %q", path, about, before[path])
		}
		delete(before, path)
	}
	if len(before) > 0 {
		t.Errorf("gone: %v", before)
	}
	if got, want := s.keptGit("cat-file", "-t", s.git("hash-object", "big")), "blob"; got != want {
		t.Errorf("big is stored as a %q", got)
	}
}
