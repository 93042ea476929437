package diff_test

import (
	"os"
	"testing"
	"time"
)

// TestIndexWithinATick: an index that is rewritten so soon that its times may be the same
// is read again.
func TestIndexWithinATick(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.write(".gitignore", "*.log\n")
	s.write("f", "f\n")
	s.commit("first")
	s.write("a.log", "a\n")
	s.write("b.log", "b\n")
	s.git("add", "-f", "b.log")
	second, err := os.ReadFile(s.path(".git/index"))
	s.must(err)
	s.git("rm", "-q", "--cached", "b.log")
	s.git("add", "-f", "a.log")
	info, err := os.Stat(s.path(".git/index"))
	s.must(err)
	s.now = func() time.Time { return info.ModTime().Add(10 * time.Millisecond) }
	tree, o := s.open(), newOracle(s)
	s.must(tree.Baseline(t.Context()))
	s.must(os.WriteFile(s.path(".git/index"), second, 0o644))
	if got := summary(o.capture(tree)); got != "A b.log\n" {
		t.Errorf("captured %q", got)
	}
}
