package diff_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"codeloops/internal/diff"
	"codeloops/internal/diff/hint"
)

// hinting is a repository with a tree of which the hints hold.
func hinting(t *testing.T, setup ...func(*sandbox)) (*sandbox, *diff.Tree) {
	t.Helper()
	s := newRepo(t)
	s.write("a", "a\n")
	s.write("d/b", "b\n")
	s.write("d/e/c", "c\n")
	s.write(".gitignore", "*.log\n")
	for _, step := range setup {
		step(s)
	}
	s.commit("first")
	tree := s.beginHinted()
	tree.AwaitHints()
	s.must(second(tree.Capture(t.Context())))
	switch {
	case tree.HintsHold():
	case canWatch(s.root):
		t.Fatal("the hints do not hold")
	default:
		t.Skip("changes cannot be watched here")
	}
	return s, tree
}

// canWatch reports whether there can be hints of a work tree.
func canWatch(root string) bool {
	w, err := hint.New(root)
	if err == nil {
		w.Close()
	}
	return err == nil
}

// again looks again and wants these changes.
func (s *sandbox) again(tree *diff.Tree, want string) {
	s.t.Helper()
	c, err := tree.Recapture(s.t.Context())
	s.must(err)
	if got := summary(c); got != want {
		s.t.Errorf("captured %q, want %q", got, want)
	}
}

// TestHintsSpareALook: what the system does not tell is found by a whole look
// only, which shows that the others are less.
func TestHintsSpareALook(t *testing.T) {
	t.Parallel()
	s, tree := hinting(t)
	outside := filepath.Join(s.base, "outside")
	s.must(os.Link(s.path("d/b"), outside))
	s.must(os.WriteFile(outside, []byte("changed\n"), 0o644))
	s.again(tree, "")
	c, err := tree.Capture(t.Context())
	s.must(err)
	if got := summary(c); got != "M d/b\n" {
		t.Errorf("captured %q", got)
	}
	s.must(os.WriteFile(outside, []byte("b\n"), 0o644))
	s.again(tree, "") // now its other name is known
	s.write("d/e/c", "changed\n")
	s.again(tree, "M d/e/c\n")
	s.again(tree, "M d/e/c\n")
	if !tree.HintsHold() {
		t.Error("the hints have ceased to hold")
	}
}

// TestHintsFallBack: what bears on more than the directories that changed makes
// for a whole look.
func TestHintsFallBack(t *testing.T) {
	t.Parallel()
	hidden := func(s *sandbox) { // without a sign
		outside := filepath.Join(s.base, "outside")
		s.must(os.Link(s.path("d/b"), outside))
		s.must(os.WriteFile(outside, []byte("changed\n"), 0o644))
	}
	for name, doubt := range map[string]func(*sandbox){
		"index":     func(s *sandbox) { s.write("x.log", "x\n"); s.git("add", "-f", "x.log"); s.remove("x.log") },
		"rules":     func(s *sandbox) { s.write(".git/info/exclude", "*.tmp\n") },
		"mode":      func(s *sandbox) { s.git("config", "core.fileMode", "false") },
		"settings":  func(s *sandbox) { s.git("config", "core.autocrlf", "input") },
		"overflow":  func(s *sandbox) { s.overflow("a", "d/b") },
		"root gone": func(s *sandbox) { s.must(os.Rename(s.root, s.root+"-")); s.must(os.Rename(s.root+"-", s.root)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, tree := hinting(t)
			hidden(s)
			doubt(s)
			s.again(tree, "M d/b\n")
			tree.AwaitHints()
			s.must(second(tree.Recapture(t.Context())))
			if !tree.HintsHold() {
				t.Error("no hints from then on")
			}
		})
	}
}

// overflow makes more changes than the system keeps for those who watch.
func (s *sandbox) overflow(names ...string) {
	s.t.Helper()
	content, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events")
	s.must(err)
	n, err := strconv.Atoi(strings.TrimSpace(string(content)))
	s.must(err)
	for i := range n {
		s.chmod(names[i%len(names)], 0o644)
	}
}

// TestHintsWhereNothingIsTold: a repository inside is looked at each time.
func TestHintsWhereNothingIsTold(t *testing.T) {
	t.Parallel()
	s, tree := hinting(t, func(s *sandbox) {
		s.write("inner/f", "f\n")
		s.gitIn(s.path("inner"), "init", "-q")
		s.gitIn(s.path("inner"), "add", ".")
		s.gitIn(s.path("inner"), "commit", "-q", "-m", "inner")
	})
	s.gitIn(s.path("inner"), "commit", "-q", "--allow-empty", "-m", "more")
	s.again(tree, "M inner\n")
	s.write("d/later/f", "f\n")
	s.gitIn(s.path("d/later"), "init", "-q")
	s.again(tree, "A d/later/f\nM inner\n")
	s.append("inner/f", "more\n")
	s.again(tree, "A d/later/f\nM inner\nM inner/f\n")
	s.gitIn(s.path("d/later"), "add", ".")
	s.gitIn(s.path("d/later"), "commit", "-q", "-m", "later")
	s.again(tree, "A d/later/f\nM inner\nM inner/f\n")
}

// TestHintsOfNewRules: ignore rules that appear bear on what is below, where nothing
// has changed.
func TestHintsOfNewRules(t *testing.T) {
	t.Parallel()
	s, tree := hinting(t)
	s.write("d/e/new", "new\n")
	s.again(tree, "A d/e/new\n")
	if !tree.HintsHold() {
		t.Error("the hints have ceased to hold")
	}
	s.write("d/.gitignore", "new\n")
	s.again(tree, "A d/.gitignore\n")
}

// TestHintsOfLinks: what is written by one name of a file is found by the other
// one, in another directory, as well.
func TestHintsOfLinks(t *testing.T) {
	t.Parallel()
	s, tree := hinting(t)
	s.must(os.Link(s.path("d/e/c"), s.path("new")))
	s.must(os.Link(s.path("a"), s.path("d/a")))
	s.again(tree, "A d/a\nA new\n")
	for _, step := range []struct{ write, want string }{
		{"new", "A d/a\nM d/e/c\nA new\n"},
		{"a", "M a\nA d/a\nM d/e/c\nA new\n"},
		{"d/a", "M a\nA d/a\nM d/e/c\nA new\n"},
	} {
		before, err := tree.Recapture(t.Context())
		s.must(err)
		s.append(step.write, "more\n")
		s.again(tree, step.want)
		after, err := tree.Recapture(t.Context())
		s.must(err)
		if got := after.Insertions - before.Insertions; got != 2 {
			t.Errorf("%s is written: %d lines more", step.write, got)
		}
	}
	if !tree.HintsHold() {
		t.Error("the hints have ceased to hold")
	}
}

// TestHintsBelowUnreadable: what was told of a directory counts until it has been
// looked at.
func TestHintsBelowUnreadable(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		asNobody(t)
		return
	}
	s, tree := hinting(t)
	s.write("d/e/c", "changed\n")
	s.chmod("d", 0)
	s.again(tree, "")
	s.chmod("d", 0o755)
	s.again(tree, "M d/e/c\n")
	if !tree.HintsHold() {
		t.Error("the hints have ceased to hold")
	}
}

// TestHintsOfAnotherRoot: nobody tells that a directory above has become another one.
func TestHintsOfAnotherRoot(t *testing.T) {
	t.Parallel()
	s, tree := hinting(t, func(s *sandbox) { s.remove(".gitignore"); s.remove(".git/info") }) // nothing else tells
	old := s.base + "-old"
	t.Cleanup(func() { s.must(os.RemoveAll(old)) })
	s.must(os.Rename(s.base, old))
	s.must(exec.CommandContext(t.Context(), "cp", "-a", old, s.base).Run())
	s.write("d/e/c", "changed\n")
	s.again(tree, "M d/e/c\n")
}
