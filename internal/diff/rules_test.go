package diff_test

import (
	"os"
	"path/filepath"
	"testing"
)

// TestExcludesOfALinkedWorkTree: info/exclude applies to all work trees of a repository.
func TestExcludesOfALinkedWorkTree(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	filled(s)
	s.write(".git/info/exclude", "*.log\n")
	linked := filepath.Join(s.base, "linked")
	s.git("worktree", "add", "-q", linked, "-b", "linked")
	s.write(".git/worktrees/linked/info/exclude", "*.txt\n")
	common := s.path(".git/info/exclude")
	s.root = linked
	tree, o := s.begin(), newOracle(s)
	s.write("d/new.log", "new\n")
	s.write("d/new.txt", "new\n")
	if got := summary(o.capture(tree)); got != "A d/new.txt\n" {
		t.Errorf("captured %q", got)
	}
	s.must(os.WriteFile(common, nil, 0o644))
	if got := summary(o.capture(tree)); got != "A d/new.log\nA d/new.txt\n" {
		t.Errorf("captured %q", got)
	}
}
