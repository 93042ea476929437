package diff_test

import (
	"strconv"
	"testing"
)

// TestAttributesOutOfScope: what defines attributes counts though it is ignored
// itself, in directories that are listed and in those that are not listed again.
func TestAttributesOutOfScope(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.write(".gitignore", ".gitattributes\n")
	s.write("a", "a\n")
	s.write("d/b", "b\n")
	s.write("d/e/c", "c\n")
	s.write("f/g", "g\n")
	s.commit("first")
	s.write("d/.gitattributes", "b text\nc text\n")
	settle()
	tree, o := s.begin(), newOracle(s)
	for i := range 3 {
		for _, name := range []string{"a", "d/b", "d/e/c", "f/g"} {
			s.write(name, "line "+strconv.Itoa(i)+"\r\n")
		}
		settle()
		o.capture(tree)
		tree = s.process()
		s.must(tree.Baseline(t.Context()))
		o = newOracle(s)
		s.write("f/.gitattributes", "* text=auto\n")
		settle()
	}
}
