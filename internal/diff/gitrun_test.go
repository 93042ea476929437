package diff_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"codeloops/internal/diff"
)

// TestGitFails: if git fails, the capture fails with git's message and never returns an
// incomplete change.
func TestGitFails(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.git("config", "filter.bad.clean", "false")
	s.git("config", "filter.bad.required", "true")
	s.write("f", "f\n")
	tree := s.begin()
	s.write(".gitattributes", "f filter=bad\n")
	s.append("f", "more\n")
	if c, err := tree.Capture(t.Context()); err == nil || !strings.Contains(err.Error(), "clean filter 'bad' failed") || !reflect.ValueOf(c).IsZero() {
		t.Errorf("captured %v, error %v", c, err)
	}
	s.remove(".gitattributes")
	if c, err := tree.Capture(t.Context()); err != nil || summary(c) != "M f\n" {
		t.Errorf("captured %q, error %v", summary(c), err)
	}

	options := s.options()
	options.Git = nil
	s.write(".gitattributes", "f filter=bad\n")
	alone, err := diff.Open(t.Context(), s.root, options)
	s.must(err)
	if err := alone.Baseline(t.Context()); err == nil || !strings.Contains(err.Error(), "git program is needed") {
		t.Errorf("error without git: %v", err)
	}
}

func TestNotesUseOfGit(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.git("config", "filter.up.clean", "tr a-z A-Z")
	s.write("plain", "f\n")
	s.commit("first")
	options := s.options()
	var notes []string
	options.Note = func(note string) { notes = append(notes, note) }
	tree, err := diff.Open(t.Context(), s.root, options)
	s.must(err)
	s.must(tree.Baseline(t.Context()))
	if notes != nil {
		t.Errorf("notes %q", notes)
	}
	s.write(".gitattributes", "*.up filter=up\n")
	for range 3 {
		s.append("plain", "more\n")
		s.write("f.up", "f\n")
		_, err := tree.Capture(t.Context())
		s.must(err)
	}
	if want := []string{"ran the git program to convert files (filter, ident or encoding)"}; !reflect.DeepEqual(notes, want) {
		t.Errorf("notes %q, want %q", notes, want)
	}
}

// TestConvertedInAnotherWorkTree: git finds the right repository for a conversion, even
// if the work tree leads to no repository or to another one.
func TestConvertedInAnotherWorkTree(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]func(s *sandbox, far string){
		"core.worktree": func(s *sandbox, far string) { s.git("config", "core.worktree", far) },
		"core.worktree, a repository itself": func(s *sandbox, far string) {
			s.gitIn(far, "init", "-q")
			s.git("config", "core.worktree", far)
		},
		"GIT_WORK_TREE": func(s *sandbox, _ string) { s.env = append(s.env, "GIT_WORK_TREE=../far") },
		"GIT_DIR": func(s *sandbox, far string) {
			s.must(os.Rename(s.path(".git"), s.path("dir")))
			s.env = append(s.env, "GIT_DIR=../work/dir")
			s.root = far
		},
		"GIT_DIR and GIT_WORK_TREE": func(s *sandbox, far string) {
			s.must(os.Mkdir(filepath.Join(far, "d"), 0o755))
			s.env = append(s.env, "GIT_DIR=../../work/.git", "GIT_WORK_TREE=..")
			s.root = filepath.Join(far, "d")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newRepo(t)
			far := filepath.Join(s.base, "far")
			s.must(os.Mkdir(far, 0o755))
			s.git("config", "filter.up.clean", "tr a-z A-Z")
			set(s, far)
			tree := s.begin()
			if s.root = far; tree.Root() != far {
				t.Fatalf("the root is %s", tree.Root())
			}
			s.write(".gitattributes", "*.up filter=up\n")
			s.write("e/f.up", "abc\n")
			c, err := tree.Capture(t.Context())
			s.must(err)
			if got := summary(c); got != "A .gitattributes\nA e/f.up\n" || !strings.Contains(c.Patch(), "\n+ABC\n") {
				t.Errorf("captured %s", c.Patch())
			}
		})
	}
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.write("d/f", "f\n")
	tree := s.begin()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tree.Capture(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if c, err := tree.Capture(t.Context()); err != nil || !c.Empty() {
		t.Errorf("captured %q, error %v", summary(c), err)
	}
}

// TestStrangeRepositoriesInside: a nested repository is recognized by its layout, not by
// its configuration.
func TestStrangeRepositoriesInside(t *testing.T) {
	t.Parallel()
	for name, set := range map[string][]string{
		"bare":              {"core.bare", "true"},
		"another work tree": {"core.worktree", "/nowhere"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newRepo(t)
			tree, o := s.begin(), newOracle(s)
			s.write("inner/f", "f\n")
			s.gitIn(s.path("inner"), "init", "-q")
			s.gitIn(s.path("inner"), "add", ".")
			s.gitIn(s.path("inner"), "commit", "-q", "-m", "inner")
			s.gitIn(s.path("inner"), append([]string{"config"}, set...)...)
			o.capture(tree)
		})
	}
}

func TestWorkTreeGone(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	tree := s.begin()
	s.must(os.Rename(s.root, filepath.Join(s.base, "gone")))
	if c, err := tree.Capture(t.Context()); err == nil {
		t.Errorf("captured %v", c)
	}
}
