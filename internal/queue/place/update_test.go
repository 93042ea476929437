package place_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"codeloops/internal/queue/place"
)

func (s scene) update() (want func(files ...string)) {
	s.Helper()
	p := s.open("t")
	files, err := p.Update(s.Context(), "main")
	s.must(err)
	return func(want ...string) {
		s.Helper()
		if !slices.Equal(files, want) {
			s.Errorf("conflicts in %q, want %q", files, want)
		}
	}
}

// TestUpdate: an update merges the target only if there is something new, and needs all changes to be committed.
func TestUpdate(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	p := s.open("t")
	s.Put(p.Dir, "new", "new\n")
	_, err := p.Update(t.Context(), "main")
	s.refused(err, "not committed: new")
	head := s.commit(p)
	s.update()()
	if s.commit(p) != head {
		t.Error("a commit was made although there was nothing to merge")
	}
	s.Write("other", "other\n")
	tip := s.Save("other")
	s.update()()
	if parents := s.Git("log", "-1", "--format=%P", "codeloops/t"); parents != head+" "+tip {
		t.Errorf("the parents are %s", parents)
	}
	s.is(p, "other", "other\n")
}

// conflict makes a conflict between the place of a task and main.
func conflict(t *testing.T) (s scene, head, tip string) {
	t.Helper()
	s = newScene(t)
	s.Write("both", "a\nb\nc\n")
	s.Write("title", "Title\n=======\n")
	s.Save("both")
	p := s.open("t")
	s.Put(p.Dir, "both", "a\nmine\nc\n")
	s.Put(p.Dir, "title", "My\n=======\n")
	head = s.commit(p)
	s.Write("both", "a\ntheirs\nc\n")
	s.Write("title", "Their\n=======\n")
	tip = s.Save("theirs")
	s.update()("both", "title")
	return s, head, tip
}

// TestUpdateConflict: conflicts stay in the work tree until they are resolved and committed.
func TestUpdateConflict(t *testing.T) {
	t.Parallel()
	s, head, tip := conflict(t)
	p := s.open("t")
	if text := s.Text(p.Dir, "both"); !strings.Contains(text, "<<<<<<< HEAD\nmine\n=======\ntheirs\n>>>>>>> "+tip) {
		t.Errorf("the file is %q", text)
	}
	s.update()("both", "title")
	_, err := p.Commit(t.Context(), "m", nil)
	if s.refused(err, "both:2, title:1"); strings.Count(err.Error(), "both:2") != 1 {
		t.Errorf("a line is named twice: %v", err)
	}
	s.Put(p.Dir, "both", "a\nmine and theirs\nc\n")
	s.Put(p.Dir, "title", "Our\n=======\n")
	p = s.open("t")
	last := s.commit(p)
	if parents := s.Git("log", "-1", "--format=%P", last); parents != head+" "+tip {
		t.Errorf("the parents are %s", parents)
	}
	if s.update()(); s.commit(p) != last {
		t.Error("main was merged once more")
	}
}

// TestBased: a place is based on what was merged into it last, which may not be the newest commit, if the target has its
// earlier base.
func TestBased(t *testing.T) {
	t.Parallel()
	s, head, tip := conflict(t)
	s.Save("later")
	s.update()("both", "title") // of the merge that is not concluded
	for base, want := range map[string]string{head + "~1": tip, head: head} {
		if got, err := s.open("t").Based(t.Context(), base); err != nil || got != want {
			t.Errorf("with the base %s it is based on %s, %v", base, got, err)
		}
	}
}

// TestMarkersCommitted: conflict markers are refused even if an agent has added or committed them.
func TestMarkersCommitted(t *testing.T) {
	t.Parallel()
	for _, commands := range [][]string{{"add ."}, {"add .", "commit -qm merged"}} {
		s, _, _ := conflict(t)
		p := s.open("t")
		for _, command := range commands {
			s.In(p.Dir, strings.Fields(command)...)
		}
		p = s.open("t")
		_, err := p.Commit(t.Context(), "m", nil)
		s.refused(err, "both:2")
		s.Write("next", "next\n")
		s.Save("next")
		s.update()("both", "title") // the old conflicts come first
		s.Put(p.Dir, "both", "a\n>>>>>>> more\nc\n")
		_, err = p.Commit(t.Context(), "m", nil)
		s.refused(err, "both:2")
		s.Put(p.Dir, "both", "a\nours\nc\n")
		s.Put(p.Dir, "title", "Our\n=======\n")
		s.commit(p)
	}
}

// TestOwnMerge: a merge that an agent began is recognised by its conflicts, and concluded before the next one.
func TestOwnMerge(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	p := s.open("t")
	s.Put(p.Dir, "both", "mine\n")
	s.commit(p)
	s.Write("both", "theirs\n")
	s.Save("theirs")
	if _, err := s.Run(t.Context(), p.Dir, "merge", "main"); err == nil {
		t.Fatal("no conflict")
	}
	_, err := p.Commit(t.Context(), "m", nil)
	if s.refused(err, "both:1"); !errors.Is(err, place.ErrConflicts) {
		t.Errorf("error %v", err)
	}
	s.Write("next", "next\n")
	s.Save("next")
	s.update()()
	s.Put(p.Dir, "both", "both\n")
	s.commit(p)
	s.is(p, "next", "-")
	s.update()()
	s.is(p, "next", "next\n")
}

// TestUpdateCutOff: an interrupted merge is undone and can be repeated.
func TestUpdateCutOff(t *testing.T) {
	t.Parallel()
	s, head, _ := conflict(t)
	p := s.open("t")
	record := filepath.Join(filepath.Dir(filepath.Dir(p.Dir)), "records", "t.json")
	text, err := os.ReadFile(record)
	s.must(err)
	s.must(os.WriteFile(record, []byte(strings.Replace(string(text), `"files":`, `"begun":true,"files":`, 1)), 0o600))
	s.must(os.Remove(filepath.Join(s.CommonDir, "worktrees/t/MERGE_HEAD")))
	s.Put(p.Dir, "half", "written\n")
	p = s.open("t")
	s.is(p, "both", "a\nmine\nc\n")
	s.is(p, "half", "-")
	if s.commit(p) != head {
		t.Error("the work tree differs from the last commit")
	}
	s.update()("both", "title")
}

// TestRebaseInProgress: nothing is committed during a rebase.
func TestRebaseInProgress(t *testing.T) {
	t.Parallel()
	s, _, _ := conflict(t)
	p := s.open("t")
	s.In(p.Dir, "merge", "--abort")
	if _, err := s.Run(t.Context(), p.Dir, "rebase", "main"); err == nil {
		t.Fatal("no conflict")
	}
	p = s.open("t")
	_, err := p.Commit(t.Context(), "m", nil)
	s.refused(err, "a rebase is in progress")
}
