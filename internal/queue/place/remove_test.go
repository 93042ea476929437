package place_test

import (
	"os"
	"path/filepath"
	"testing"

	"codeloops/internal/queue/place"
)

// removed discards a place whose work is elsewhere.
func (s scene) removed(p *place.Place) {
	s.Helper()
	if ref, err := p.Discard(s.Context(), ""); err != nil || ref != "" {
		s.Errorf("kept at %q, %v", ref, err)
	}
}

// TestCheckedOut: a branch that is checked out elsewhere is neither moved nor removed.
func TestCheckedOut(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	p := s.open("t")
	s.Put(p.Dir, "new", "new\n")
	head := s.commit(p)
	s.Git("worktree", "add", "-q", filepath.Join(s.State, "look"), "codeloops/t")
	s.Git("merge", "-q", "--no-ff", "codeloops/t")
	_, err := p.Discard(t.Context(), "")
	s.refused(err, "codeloops/t is checked out in "+filepath.Join(s.State, "look"))
	if s.Git("rev-parse", "codeloops/t") != head || s.Text(p.Dir, "new") != "new\n" {
		t.Fatal("the branch or the work tree has changed")
	}
	s.Git("worktree", "remove", filepath.Join(s.State, "look"))
	s.removed(p)
	s.Fails("rev-parse", "--verify", "codeloops/t")
	if _, err := os.Lstat(p.Dir); err == nil {
		t.Error("the work tree is still there")
	}
	s.removed(p)
	s.open("t")
}

// TestDiscard: a discarded branch is kept at a ref of its own.
func TestDiscard(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	var heads []string
	for n := range 3 {
		want := ""
		p, err := s.site.Open(t.Context(), place.Task{Name: "t", Base: s.Git("rev-parse", "main"), Setup: "echo stray >stray"})
		s.must(err)
		if n < 2 {
			s.Put(p.Dir, "new", string(rune('a'+n)))
			heads = append(heads, s.commit(p))
			want = "refs/codeloops/dropped/t-" + heads[n][:12]
		}
		ref, err := p.Discard(t.Context(), "")
		s.must(err)
		if ref != want {
			t.Errorf("the work is kept at %s, want %s", ref, want)
		}
		s.Fails("rev-parse", "--verify", "codeloops/t")
		if _, err := os.Lstat(p.Dir); err == nil {
			t.Error("the work tree is still there")
		}
	}
	for _, head := range heads {
		if got := s.Git("rev-parse", "refs/codeloops/dropped/t-"+head[:12]); got != head {
			t.Errorf("the work %s is lost", head)
		}
	}
	s.Git("fsck", "--connectivity-only")
}
