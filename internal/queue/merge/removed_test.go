package merge_test

import (
	"strings"
	"testing"

	"codeloops/internal/queue/merge"
)

// lacks expects that a file is not in what is merged.
func (s scene) lacks(ref string, files ...string) {
	s.Helper()
	for _, file := range files {
		s.Fails("cat-file", "-e", ref+":"+file)
	}
}

// removed expects the subjects of the commits that a merge has left out, newest first.
func (s scene) removed(res merge.Result, subjects ...string) {
	s.Helper()
	var got []string
	for _, c := range res.Removed {
		got = append(got, c.Subject)
	}
	if strings.Join(got, ", ") != strings.Join(subjects, ", ") {
		s.Errorf("left out %q, want %q", got, subjects)
	}
}

// TestRemoved: what the user takes out of the target after it was there stays out.
func TestRemoved(t *testing.T) {
	t.Parallel()
	s := newScene(t, true)
	s.Branch("one", "main", "one", "1\n")
	s.Branch("two", "main", "two", "2\n")
	base := s.Git("rev-parse", "main")
	s.merged("one")
	s.Git("merge", "-q", "--ff-only", queue)
	s.Branch("three", "main", "three", "3\n") // which stands on it
	s.Git("reset", "-q", "--hard", base)
	if onto, err := s.merger.Onto(t.Context(), "main"); err != nil || onto != base {
		t.Errorf("the next goes onto %s, %v", onto, err)
	}
	if take, _, err := s.merger.Take(t.Context(), "main"); err != nil || take != "" {
		t.Errorf("to be taken with %q, %v", take, err)
	}
	before := s.Untouched()
	res := s.merged("two")
	s.lacks(res.Ref, "one")
	s.removed(res, "Merge one", "one")
	if s.Git("rev-parse", res.Ref+"^1") != base || s.Untouched() != before {
		t.Errorf("%+v", res)
	}
	res, err := s.merge("three")
	s.must(err)
	if res.Outcome != merge.Merged || s.Git("cat-file", "blob", res.Ref+":three") != "3" {
		t.Errorf("%+v", res)
	}
	s.lacks(res.Ref, "one")
	s.removed(res, "Merge one", "one")
	tip := res.Tip
	if res, err = s.merge("three"); err != nil || res.Outcome != merge.Merged || res.Tip != tip { // as after a kill
		t.Errorf("again: %+v, %v", res, err)
	}
	s.Git("merge", "-q", "--ff-only", queue)
	s.Git("reset", "-q", "--hard", "HEAD~1")
	if res, err = s.merge("three"); err != nil || res.Outcome != merge.Merged {
		t.Errorf("again: %+v, %v", res, err)
	}
	s.clean()
}

// TestRemovedBelow: of what waits, that which the target has had and has no more is left out, and the rest
// still waits.
func TestRemovedBelow(t *testing.T) {
	t.Parallel()
	s := newScene(t, true)
	s.Branch("one", "main", "one", "1\n")
	s.merged("one")
	s.Git("merge", "-q", "--ff-only", queue)
	s.Branch("two", "main", "two", "2\n") // which stands on it
	s.Branch("three", "main~1", "three", "3\n")
	s.Branch("four", "main~1", "four", "4\n")
	s.Branch("five", "main~1", "five", "5\n")
	s.merged("two")
	s.Write("own", "own\n")
	s.Save("own")
	s.merged("three")
	s.Git("reset", "-q", "--hard", "HEAD~2")
	s.Write("next", "next\n")
	own := s.Save("next")
	if take, back, err := s.merger.Take(t.Context(), "main"); err != nil || take != "git merge "+queue || !back {
		t.Errorf("to be taken with %q, %t, %v", take, back, err)
	}
	res := s.merged("four")
	s.contains(res.Ref, own)
	s.contains(res.Ref, "three")
	s.lacks(res.Ref, "one", "own")
	if files := s.Git("ls-tree", "--name-only", res.Ref); files != "first\nfour\nnext\nthree\ntwo" {
		t.Errorf("it has %q", files)
	}
	if res.Take != "git merge --ff-only "+queue || len(res.Removed) != 3 {
		t.Errorf("%+v", res)
	}
	s.Git("merge", "-q", "--ff-only", queue)
	if res = s.merged("five"); len(res.Removed) > 0 {
		t.Errorf("%+v", res)
	}
	s.clean()
}

// TestRemovedHere: a target that is not checked out is as it is, too, and a commit that was made anew is no
// conflict.
func TestRemovedHere(t *testing.T) {
	t.Parallel()
	s := newScene(t, false)
	s.Branch("one", "main", "first", "was\n")
	s.Git("update-ref", "refs/heads/main", s.Git("rev-parse", "one"))
	s.Branch("two", "one", "two", "2\n")
	s.Git("switch", "-q", "main")
	s.Write("first", "is\n")
	s.Git("commit", "-q", "-a", "--amend", "-m", "anew")
	s.Git("switch", "-q", "--detach")
	own := s.Git("rev-parse", "main")
	res, err := s.merge("two")
	s.must(err)
	s.removed(res, "one")
	if res.Outcome != merge.Merged || res.Ref != "refs/heads/main" || s.Git("log", "-1", "--format=%P", "main") != own ||
		s.Git("cat-file", "blob", "main:first") != "is" || s.Git("cat-file", "blob", "main:two") != "2" {
		t.Errorf("%+v", res)
	}
	s.clean()
}

// TestRemovedNeeded: what changes something that was taken out needs a person.
func TestRemovedNeeded(t *testing.T) {
	t.Parallel()
	s := newScene(t, true)
	s.Branch("one", "main", "one", "1\n")
	s.merged("one")
	s.Git("merge", "-q", "--ff-only", queue)
	s.Branch("two", "main", "one", "2\n")
	s.Branch("three", "main~1", "three", "3\n")
	s.Branch("four", "main", "one", "4\n")
	s.merged("two")
	s.Git("reset", "-q", "--hard", "HEAD~1")
	res, err := s.merge("three")
	s.must(err)
	if res.Outcome != merge.Conflict || !res.Own || len(res.Removed) == 0 || res.Files[0] != "one" || s.Git("rev-parse", queue+"^2") != s.Git("rev-parse", "two") {
		t.Errorf("%+v", res)
	}
	s.Git("update-ref", "-d", queue)
	res, err = s.merge("four")
	s.must(err)
	if res.Outcome != merge.Conflict || res.Own || len(res.Removed) == 0 {
		t.Errorf("%+v", res)
	}
	s.clean()
}

// TestRebased: what the target has in other commits was not taken out, and is not there twice.
func TestRebased(t *testing.T) {
	t.Parallel()
	s := newScene(t, true)
	one := s.Branch("one", "main", "one", "1\n")
	s.merged("one")
	s.Git("merge", "-q", "--ff-only", queue)
	s.Branch("two", "main", "two", "2\n") // which stands on it
	s.Branch("three", "main~1", "three", "3\n")
	s.Git("reset", "-q", "--hard", "HEAD~1")
	s.Write("own", "own\n")
	s.Save("own")
	s.Git("cherry-pick", one)
	tip := s.Git("rev-parse", "main")
	for _, head := range []string{"three", "two"} {
		res, err := s.merge(head)
		s.must(err)
		if s.removed(res); res.Outcome != merge.Merged || res.Apart != (head == "two") {
			t.Errorf("%s: %+v", head, res)
		}
	}
	if commits := s.Git("log", "--format=%s", "main.."+queue); commits != "Merge two\nMerge three\nthree" || s.Git("rev-parse", "main") != tip {
		t.Errorf("it has %q", commits)
	}
	s.clean()
}
