package diff_test

import "testing"

// TestCaptureFirst: changes from before the session are part of the baseline, and a
// commit during the session does not affect the captures.
func TestCaptureFirst(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.write("a.txt", "one\ntwo\nthree\n")
	s.write("d/b.txt", "b\n")
	s.commit("first")
	s.write("d/b.txt", "dirty\n")
	s.write("u.txt", "untracked\n")
	tree, o := s.begin(), newOracle(s)
	o.capture(tree)
	s.write("a.txt", "one\n2\nthree\n")
	s.write("u.txt", "untracked\nmore\n")
	s.write("d/new", "new\n")
	o.capture(tree)
	s.commit("second")
	o.capture(tree)
	s.remove("d")
	o.capture(tree)
}

// TestCaptureAgain: modifying a returned change does not affect later captures, of the
// same state or another one.
func TestCaptureAgain(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.write("a", "a\n")
	s.write("d/b", "b\n")
	s.commit("first")
	tree, o := s.begin(), newOracle(s)
	s.write("d/b", "changed\n")
	settle() // otherwise each capture has a different state
	for range 4 {
		c := o.capture(tree)
		c.Files[0].Path, c.Files[0].Patch = "", ""
	}
	s.write("a", "changed, too\n")
	o.capture(tree)
	s.write("a", "a\n")
	o.capture(tree)
	settle()
	begin, err := tree.Checkpoint(t.Context(), tree.BaseState(), "test/begin", "begin")
	s.must(err)
	s.must(tree.Baseline(t.Context()))
	if c, err := tree.Capture(t.Context()); err != nil || len(c.Files) > 0 {
		t.Errorf("right after a new baseline: %v, %v", c, err)
	}
	s.must(tree.Resume(t.Context(), begin))
	o.capture(tree)
}

// TestBaseCommitWhenItBegins: the base commit is HEAD when the session begins, not when
// the tree is opened.
func TestBaseCommitWhenItBegins(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	tree := s.open()
	s.write("f", "committed meanwhile\n")
	s.commit("meanwhile")
	s.must(tree.Baseline(t.Context()))
	if got, want := tree.BaseCommit(), s.git("rev-parse", "HEAD"); got != want {
		t.Errorf("the base commit is %s, and HEAD %s", got, want)
	}
}
