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
	if ref, err := p.Discard(s.Context()); err != nil || ref != "" {
		s.Errorf("kept at %q, %v", ref, err)
	}
}

// TestBranchDeletedBeforeMerge: a branch that no other ref contains is kept at one, and one that is checked out elsewhere
// is not removed.
func TestBranchDeletedBeforeMerge(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	p := s.open("t")
	s.Put(p.Dir, "new", "new\n")
	head := s.commit(p)
	s.Git("worktree", "add", "-q", "-f", filepath.Join(s.State, "look"), "codeloops/t")
	s.Git("merge", "-q", "--no-ff", "codeloops/t")
	_, err := p.Discard(t.Context())
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
	if out := s.Git("worktree", "list"); len(out) == 0 || s.Text(s.CommonDir, "worktrees/t/HEAD") != "-" {
		t.Error("git still lists the work tree")
	}
	s.removed(p)
	s.open("t")
}

// TestCleanUpDeletesWork: uncommitted work is kept, and a repository of the agent's is not removed.
func TestCleanUpDeletesWork(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	p := s.open("t")
	s.Put(p.Dir, "d/new", "new\n")
	s.Put(p.Dir, "first", "changed\n")
	s.In(p.Dir, "init", "-q", "inner")
	s.In(filepath.Join(p.Dir, "inner"), "commit", "-qm", "inside", "--allow-empty")
	for range 2 {
		_, err := p.Commit(t.Context(), "m", nil)
		s.refused(err, "inner is a git repository of its own")
		_, err = p.Discard(t.Context())
		s.refused(err, "inner is a git repository of its own")
	}
	s.must(os.RemoveAll(filepath.Join(p.Dir, "inner/.git")))
	s.Put(p.Dir, "inner/file", "file\n")
	ref, err := p.Discard(t.Context())
	s.must(err)
	if names := s.Git("ls-tree", "-r", "--name-only", ref); names != "d/new\nfirst\ninner/file" {
		t.Errorf("kept %q", names)
	}
}

// TestDirtySubmodule: changes within a submodule are not on the branch, so they do not count as committed.
func TestDirtySubmodule(t *testing.T) {
	t.Parallel()
	s, lib := newScene(t), newScene(t)
	s.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib.Root, "lib")
	s.Save("lib")
	p := s.open("t")
	s.Put(p.Dir, "new", "new\n")
	s.commit(p) // without the submodule's files
	s.In(p.Dir, "-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init")
	s.Put(p.Dir, "lib/new", "new\n")
	_, err := p.Commit(t.Context(), "m", nil)
	s.refused(err, "not committed: lib")
	s.In(filepath.Join(p.Dir, "lib"), "add", ".")
	s.In(filepath.Join(p.Dir, "lib"), "commit", "-qm", "new")
	_, err = p.Commit(t.Context(), "m", nil)
	s.refused(err, "lib is a git repository of its own")
	s.In(filepath.Join(p.Dir, "lib"), "push", "-q", "origin", "HEAD:refs/heads/more")
	s.commit(p)
}

// TestDiscard: a discarded branch is kept at a ref of its own, with uncommitted changes as a commit.
func TestDiscard(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	var heads []string
	for n, want := range []string{"refs/codeloops/dropped/t", "refs/codeloops/dropped/t-2"} {
		p := s.open("t")
		s.Put(p.Dir, "new", string(rune('a'+n)))
		heads = append(heads, s.commit(p))
		if n == 1 {
			s.Put(p.Dir, "more", "more\n")
		}
		ref, err := p.Discard(t.Context())
		s.must(err)
		if ref != want {
			t.Errorf("the work is kept at %s, want %s", ref, want)
		}
		s.Fails("rev-parse", "--verify", "codeloops/t")
		if _, err := os.Lstat(p.Dir); err == nil {
			t.Error("the work tree is still there")
		}
	}
	if got := s.Git("rev-parse", "refs/codeloops/dropped/t"); got != heads[0] {
		t.Error("the first work is lost")
	}
	if got := s.Git("show", "refs/codeloops/dropped/t-2:more", "--"); got != "more" || s.Git("rev-parse", "refs/codeloops/dropped/t-2^") != heads[1] {
		t.Errorf("the second work has %q", got)
	}
}

// TestDiscardElsewhere: discarding keeps HEAD as well as the branch if they differ, and files with conflict markers.
func TestDiscardElsewhere(t *testing.T) {
	t.Parallel()
	s, head, _ := conflict(t)
	p := s.open("t")
	s.In(p.Dir, "merge", "--abort")
	s.In(p.Dir, "checkout", "-q", "--detach", "main~1")
	s.Put(p.Dir, "own", "own\n")
	s.In(p.Dir, "add", ".")
	s.In(p.Dir, "commit", "-qm", "own")
	own := s.In(p.Dir, "rev-parse", "HEAD")
	ref, err := p.Discard(t.Context())
	s.must(err)
	for _, commit := range []string{head, own} {
		s.Git("merge-base", "--is-ancestor", commit, ref)
	}
	s, _, _ = conflict(t)
	ref, err = s.open("t").Discard(t.Context())
	s.must(err)
	s.Git("show", ref+":both")
}
