package merge_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"codeloops/internal/queue/merge"
	"codeloops/internal/wording/hint"
)

// lacks expects that a ref does not contain some files.
func (s scene) lacks(ref string, files ...string) {
	s.Helper()
	for _, file := range files {
		s.Fails("cat-file", "-e", ref+":"+file)
	}
}

// onto is what the next merge into main is based on.
func (s scene) onto() (string, error) {
	at, err := s.merger.Look(s.Context(), "main")
	if err != nil {
		return "", err
	}
	return s.merger.Onto(s.Context(), at)
}

// waits expects that something waits for main, or nothing.
func (s scene) waits(want bool) {
	s.Helper()
	const ref = "refs/codeloops/queue/main"
	if is := s.Git("for-each-ref", ref) != "" && s.Git("rev-list", "--count", "main.."+ref) != "0"; is != want {
		s.Errorf("something waits: %t", is)
	}
}

// TestTake: what waits is taken as a fast-forward, or as a merge with the user's own commits, in the work tree that has the
// target checked out, or without one.
func TestTake(t *testing.T) {
	t.Parallel()
	s := newScene(t, true)
	s.Put(s.CommonDir, "hooks/post-merge", "#!/bin/sh\ntouch "+filepath.Join(s.State, "ran")+"\n")
	s.must(os.Chmod(filepath.Join(s.CommonDir, "hooks/post-merge"), 0o700))
	for _, name := range []string{"one", "two", "three", "four"} {
		s.Branch(name, "main", name, name+"\n")
	}
	if tip := s.took(); tip != "" {
		t.Errorf("took %s, and nothing has waited", tip)
	}
	res := s.merged("one")
	s.waits(true)
	s.Write("mine", "not committed\n")
	if tip := s.took(); tip != res.Tip || s.Text(s.Root, "one") != "one\n" || s.Git("status", "--porcelain") != "?? mine" {
		t.Errorf("main is at %s, want %s", tip, res.Tip)
	}
	s.waits(false)
	s.Fails("rev-parse", "--verify", queue)

	s.merged("two")
	own := s.Save("own")
	tip := s.took()
	s.contains("main", own)
	s.contains("main", "two")
	if tip != s.Git("rev-parse", "main") || s.Git("status", "--porcelain") != "" {
		t.Errorf("main is not at %s", tip)
	}
	s.merged("three")
	s.Git("switch", "-q", "--detach")
	s.took()
	s.contains("main", "three")
	if _, err := os.Stat(filepath.Join(s.State, "ran")); err == nil {
		t.Error("a hook has run")
	}
	s.clean()
}

// refused expects that nothing is taken, and that nothing changes.
func (s scene) refused(words, advice string, busy error) {
	s.Helper()
	before := s.Untouched() + s.Git("for-each-ref")
	_, err := s.merger.Take(s.Context(), "main", func(string) error { return busy })
	if tip, _ := hint.Of(err); err == nil || !strings.Contains(err.Error(), words) || !strings.Contains(tip, advice) {
		s.Errorf("%v (%s)", err, tip)
	}
	if s.Untouched()+s.Git("for-each-ref") != before {
		s.Error("something has changed")
	}
}

// TestTakeRefused: where files of the user's are in the way, or what waits conflicts with commits of the user's, nothing
// happens, and the user is told what to do.
func TestTakeRefused(t *testing.T) {
	t.Parallel()
	s := newScene(t, true)
	s.Branch("one", "main", "one", "1\n")
	s.Branch("two", "main", "two", "2\n")
	s.merged("one")
	s.refused("a run is there", "", errors.New("a run is there"))
	s.Write("one", "mine\n")
	s.refused("one", "commit or stash what is in the way in "+s.Root, nil)
	s.Put(s.CommonDir, "info/exclude", "one\ntwo\n")
	s.refused("one", "commit or stash what is in the way in "+s.Root, nil)
	s.Git("add", "--force", "one")
	s.Git("commit", "--no-verify", "-m", "mine")
	s.refused("conflicts in one", "git merge "+queue, nil)

	s.Git("reset", "-q", "--hard", "HEAD~1")
	s.Save("own")
	s.merged("two")
	s.Write("two", "mine\n")
	s.refused("two", "commit or stash what is in the way in "+s.Root, nil)
}

// TestTakeAmidRebase: while main is being rebased, HEAD is not main.
func TestTakeAmidRebase(t *testing.T) {
	t.Parallel()
	s := newScene(t, true)
	s.Branch("one", "main", "one", "1\n")
	s.Save("own")
	s.merged("one")
	s.Fails("rebase", "--force-rebase", "--exec", "false", "main~1")
	s.refused("main is not checked out in "+s.Root, "git status", nil)
	s.Git("rebase", "--abort")
	s.took()
}

// TestRewritten: if the user rewrites the target below what waits, nothing is merged until that is taken, without what the
// user removed. The old commits are kept at a ref.
func TestRewritten(t *testing.T) {
	t.Parallel()
	for name, rewrite := range map[string]func(scene){
		"reset": func(s scene) { s.Git("reset", "-q", "--hard", "HEAD~1") },
		"amend": func(s scene) {
			s.Git("mv", "own", "other")
			s.Git("commit", "-q", "--amend", "-m", "other")
		},
		"rebase": func(s scene) {
			s.Branch("upstream", "HEAD~1", "upstream", "1\n")
			s.Git("rebase", "-q", "upstream")
			s.Git("rm", "-q", "own")
			s.Git("commit", "-q", "-m", "without")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, true)
			s.Branch("one", "main", "one", "1\n")
			s.Branch("two", "main", "two", "2\n")
			s.Write("own", "own\n")
			own := s.Save("own")
			old := s.merged("one").Tip
			rewrite(s)
			_, err := s.merge("two")
			if tip, _ := hint.Of(err); !errors.Is(err, merge.ErrRewritten) || !strings.Contains(err.Error(), own[:12]) || !strings.Contains(tip, "codeloops queue take") {
				t.Errorf("%v (%s)", err, tip)
			}
			if _, err := s.onto(); !errors.Is(err, merge.ErrRewritten) {
				t.Errorf("a new task: %v", err)
			}
			s.waits(true)
			s.took()
			s.lacks("main", "own")
			if kept := s.Git("for-each-ref", "--format=%(objectname)", "refs/codeloops/dropped"); s.Text(s.Root, "one") != "1\n" || kept != old {
				t.Errorf("kept %q, want %s", kept, old)
			}
			s.lacks(s.merged("two").Ref, "own")
			s.clean()
		})
	}
}

// TestRewrittenTask: a task that began at a commit that the target has no longer is not merged.
func TestRewrittenTask(t *testing.T) {
	t.Parallel()
	for _, out := range []bool{false, true} {
		s := newScene(t, true)
		s.Write("own", "own\n")
		s.Save("own")
		s.Branch("one", "main", "one", "1\n")
		s.Git("reset", "-q", "--hard", "HEAD~1")
		if !out {
			s.Git("switch", "-q", "--detach")
		}
		_, err := s.merge("one")
		if tip, _ := hint.Of(err); !errors.Is(err, merge.ErrRewritten) || !strings.Contains(tip, "git cherry-pick ") {
			t.Errorf("%v (%s)", err, tip)
		}
		s.clean()
	}
}

// TestSquashed: work that the user has taken as a commit of its own is no rewriting.
func TestSquashed(t *testing.T) {
	t.Parallel()
	s := newScene(t, true)
	s.Branch("one", "main", "one", "1\n")
	s.Branch("two", "main", "two", "2\n")
	s.merged("one")
	s.Git("merge", "-q", "--squash", queue)
	s.Git("commit", "-q", "-m", "one, in one commit")
	s.merged("two")
	s.took()
	s.contains("main", "two")
	s.clean()
}
