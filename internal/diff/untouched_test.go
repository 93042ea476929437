package diff_test

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// listing returns everything below a directory, with mode, time and content.
func listing(t *testing.T, root string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		about := fmt.Sprint(info.Mode(), info.ModTime().UnixNano())
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
		t.Fatal(err)
	}
	return all
}

// TestNothingIsTouched: neither the baseline nor a capture writes anything, in
// the work tree or in the git directory.
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

// TestOnlyLooseObjectsAreAdded: what is too much for the memory goes to the
// object store, and nothing else is written.
func TestOnlyLooseObjectsAreAdded(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.write("f", "f\n")
	s.commit("first")
	s.write("big", strings.Repeat("0123456789\n", 1<<18))
	before := listing(t, s.base)
	s.begin()
	objects := s.path(".git/objects")
	for path, about := range listing(t, s.base) {
		if before[path] != about && !strings.HasPrefix(path, objects) {
			t.Errorf("%s is %s, was %q", path, about, before[path])
		}
		delete(before, path)
	}
	if len(before) > 0 {
		t.Errorf("gone: %v", before)
	}
	if got, want := s.git("cat-file", "-t", s.git("hash-object", "big")), "blob"; got != want {
		t.Errorf("big is kept as %q", got)
	}
}
