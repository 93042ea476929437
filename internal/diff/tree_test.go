package diff_test

import "testing"

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
