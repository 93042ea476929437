package merge_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
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

// removed expects that commits with these subjects were left out, newest first.
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

// back expects that a head is not merged because that would bring back commits with these subjects.
func (s scene) back(head string, own bool, subjects ...string) merge.Result {
	s.Helper()
	res, err := s.merge(head)
	s.must(err)
	if res.Outcome != merge.BringsBack || res.UserCommits != own {
		s.Errorf("%s: %+v", head, res)
	}
	s.removed(res, subjects...)
	return res
}

// kept expects that a ref keeps a commit, and nothing else.
func (s scene) kept(commit string) {
	s.Helper()
	if kept := s.Git("for-each-ref", "--format=%(objectname)", "refs/codeloops/dropped"); kept != commit {
		s.Errorf("kept %q, want %q", kept, commit)
	}
}

// over expects that nothing waits to be taken, and that the next task begins at base.
func (s scene) over(base string) {
	s.Helper()
	onto, err := s.merger.Onto(s.Context(), "main")
	s.must(err)
	take, err := s.merger.Take(s.Context(), "main")
	s.must(err)
	if onto != base || take != "" {
		s.Errorf("the next task begins at %s; the command to take what waits is %q", onto, take)
	}
}

// notOffered expects that the user is not offered to take what waits, but told that it is based on removed commits with
// these subjects.
func (s scene) notOffered(subjects ...string) {
	s.Helper()
	take, err := s.merger.Take(s.Context(), "main")
	advice, _ := hint.Of(err)
	if take != "" || err == nil || !strings.Contains(err.Error(), "main no longer has") || !strings.Contains(advice, "git merge "+queue) {
		s.Errorf("offered %q: %v (%s)", take, err, advice)
	}
	for _, subject := range subjects {
		if err == nil || !strings.Contains(err.Error(), `("`+subject+`")`) {
			s.Errorf("%v: want %s", err, subject)
		}
	}
}

// TestRemoved: what the user removed from the target is not brought back.
func TestRemoved(t *testing.T) {
	t.Parallel()
	s := newScene(t, true)
	s.Branch("one", "main", "one", "1\n")
	s.Branch("two", "main", "two", "2\n")
	base := s.Git("rev-parse", "main")
	s.merged("one")
	s.Git("merge", "-q", "--ff-only", queue)
	s.Branch("three", "main", "three", "3\n") // based on one
	s.Git("reset", "-q", "--hard", base)
	s.over(base)
	before := s.Untouched()
	taken := s.Git("rev-parse", queue)
	res := s.merged("two")
	s.lacks(res.Ref, "one")
	s.removed(res, "Merge one", "one")
	if s.Git("rev-parse", res.Ref+"^1") != base || s.Untouched() != before {
		t.Errorf("%+v", res)
	}
	s.kept(taken)
	res, err := s.merge("three")
	s.must(err)
	if res.Outcome != merge.Merged || !res.Partial || s.Git("cat-file", "blob", res.Ref+":three") != "3" {
		t.Errorf("%+v", res)
	}
	s.lacks(res.Ref, "one")
	s.removed(res, "Merge one", "one")
	tip := res.Tip
	if res, err = s.merge("three"); err != nil || res.Outcome != merge.Merged || res.Tip != tip { // as it happens after a kill
		t.Errorf("again: %+v, %v", res, err)
	}
	s.Git("merge", "-q", "--ff-only", queue)
	if res, err = s.merge("three"); err != nil || res.Outcome != merge.Merged || res.Tip != tip || res.Take != "" {
		t.Errorf("taken: %+v, %v", res, err)
	}
	s.clean()
}

// TestRewritten: if the user rewrites the target below what waits, the work of tasks goes on waiting, on the new target
// and without what the user removed. The old commits are kept at a ref.
func TestRewritten(t *testing.T) {
	t.Parallel()
	own := func(s scene) { // waits below the work of "two"
		s.Write("own", "own\n")
		s.Save("own")
		s.merged("two")
	}
	took := func(s scene) {
		s.Git("merge", "-q", "--ff-only", queue)
		s.Branch("two", "main", "two", "2\n")
		s.merged("two")
	}
	for name, h := range map[string]struct {
		before  func(s scene)
		rewrite []string
		removed []string
		files   string
	}{
		"reset":      {own, []string{"reset", "-q", "--hard", "HEAD~1"}, []string{"own"}, "first one three two"},
		"amended":    {own, []string{"-c", "core.editor=true", "commit", "-q", "--amend", "-a"}, []string{"own"}, "first one own three two"},
		"reworded":   {own, []string{"commit", "-q", "--amend", "-m", "other words"}, nil, "first one own three two"},
		"taken, off": {took, []string{"reset", "-q", "--hard", "HEAD~1"}, []string{"Merge one", "one"}, "first three two"},
		"made again": {own, []string{"reset", "-q", "--hard", "HEAD~1"}, []string{"own"}, "first one three two"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, true)
			s.Branch("one", "main", "one", "1\n")
			s.Branch("two", "main", "two", "2\n")
			s.Branch("three", "main", "three", "3\n")
			s.merged("one")
			h.before(s)
			waits := s.Git("rev-parse", queue)
			if name == "amended" {
				s.Write("own", "better\n")
			}
			s.Git(h.rewrite...)
			if name == "made again" { // its reflog is gone
				s.Git("switch", "-q", "--detach")
				s.Git("branch", "-q", "-D", "main")
				s.Git("switch", "-q", "-c", "main")
			}
			before := s.Untouched()
			s.notOffered(h.removed...)
			res := s.merged("three")
			s.removed(res, h.removed...)
			s.holds(queue, h.files)
			if res.Partial || s.Untouched() != before {
				t.Errorf("%+v", res)
			}
			if name == "amended" && s.Git("cat-file", "blob", queue+":own") != "better" {
				t.Error("the old version came back")
			}
			if in, err := s.Contains(s.Context(), queue, waits); err != nil || in {
				t.Errorf("removed commits came back: %v", err)
			}
			s.kept(waits)
			s.Git("merge", "-q", "--ff-only", queue)
			s.clean()
		})
	}
}

// TestRewrittenOld: commits of the user that a version of codeloops without base refs has merged into what waits do not
// come back once they are removed.
func TestRewrittenOld(t *testing.T) {
	t.Parallel()
	for _, stale := range []bool{false, true} {
		s := newScene(t, true)
		s.Branch("one", "main", "one", "1\n")
		s.Branch("two", "main", "two", "2\n")
		s.Branch("three", "main", "three", "3\n")
		s.merged("one")
		base := s.Git("rev-parse", "main")
		s.Write("own", "own\n")
		s.Save("own")
		s.merged("two")
		s.Git("update-ref", bases, base)
		if !stale {
			s.Git("update-ref", "-d", bases)
		}
		s.Git("reset", "-q", "--hard", "HEAD~1")
		res := s.merged("three")
		s.removed(res, "own")
		s.holds(queue, "first one three two")
		s.clean()
	}
}

// holds checks the files of a commit.
func (s scene) holds(ref, files string) {
	s.Helper()
	if got := strings.Join(strings.Fields(s.Git("ls-tree", "--name-only", ref)), " "); got != files {
		s.Errorf("%s has %q, not %q", ref, got, files)
	}
}

// TestUnrelated: if the target is replaced by a history of its own, commits of that are not said to be removed.
func TestUnrelated(t *testing.T) {
	t.Parallel()
	s := newScene(t, true)
	s.Branch("one", "main", "one", "1\n")
	s.merged("one")
	s.Branch("two", queue, "two", "2\n")
	s.Git("switch", "-q", "--orphan", "anew")
	s.Write("anew", "anew\n")
	s.Save("anew")
	s.Git("branch", "-q", "-M", "anew", "main")
	res := s.merged("two")
	s.removed(res, "first")
	s.holds(queue, "anew one two")
	s.clean()
}

// TestRewrittenAway: what waited and amounts to nothing on a rewritten target is kept.
func TestRewrittenAway(t *testing.T) {
	t.Parallel()
	s := newScene(t, true)
	s.Write("own", "own\n")
	s.Save("own")
	s.Branch("one", "main", "own", "other\n")
	s.Branch("two", "main", "two", "2\n")
	s.merged("one")
	waits := s.Git("rev-parse", queue)
	s.Write("own", "other\n")
	s.Git("commit", "-q", "-a", "--amend", "-m", "the same")
	s.merged("two")
	s.kept(waits)
	s.clean()
}

// TestRemovedBelow: if waiting merges cannot do without removed commits, nothing more is merged, and nothing is lost: the
// user can take everything and revert some of it.
func TestRemovedBelow(t *testing.T) {
	t.Parallel()
	s := newScene(t, true)
	s.Branch("one", "main", "one", "1\n")
	s.merged("one")
	s.Git("merge", "-q", "--ff-only", queue)
	s.Branch("two", "main", "one", "1\n2\n") // changes it
	s.Branch("three", "main~1", "three", "3\n")
	s.merged("two")
	waits := s.Git("rev-parse", queue)
	s.Git("reset", "-q", "--hard", "HEAD~1")
	res := s.back("three", true, "Merge one", "one")
	if s.Git("rev-parse", queue) != waits || res.Take != "git merge "+queue || !slices.Equal(res.Files, []string{"one"}) {
		t.Errorf("%+v", res)
	}
	s.Git("merge", "-q", queue)
	s.Git("revert", "--no-edit", "-m", "1", "HEAD")
	res = s.merged("three")
	s.holds(res.Ref, "first one three")
	if len(res.Removed) > 0 {
		t.Errorf("%+v", res)
	}
	s.clean()
}

// TestRemovedHere: removed commits also stay out of a target that is not checked out, and an amended commit is not a
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
	tip := res.Tip
	if res, err = s.merge("two"); err != nil || res.Outcome != merge.Merged || res.Tip != tip {
		t.Errorf("again: %+v, %v", res, err)
	}
	s.clean()
}

// TestRemovedNeeded: a branch that changes a removed file is a conflict.
func TestRemovedNeeded(t *testing.T) {
	t.Parallel()
	s := newScene(t, true)
	s.Branch("one", "main", "one", "1\n")
	s.merged("one")
	s.Git("merge", "-q", "--ff-only", queue)
	s.Branch("four", "main", "one", "4\n")
	s.Git("reset", "-q", "--hard", "HEAD~1")
	res, err := s.merge("four")
	s.must(err)
	if res.Outcome != merge.Conflict || res.UserCommits || !res.Partial || len(res.Removed) == 0 {
		t.Errorf("%+v", res)
	}
	s.clean()
}

// TestRemovedMingled: if the target was merged into a branch that is based on removed commits, its changes cannot be
// separated from them, so it is not merged.
func TestRemovedMingled(t *testing.T) {
	t.Parallel()
	s := newScene(t, false)
	s.Branch("one", "main", "first", "was\n")
	s.Git("update-ref", "refs/heads/main", s.Git("rev-parse", "one"))
	s.Branch("two", "one", "two", "2\n")
	s.Git("switch", "-q", "main")
	s.Write("more", "more\n")
	s.Git("add", "more")
	s.Git("commit", "-q", "--amend", "-m", "anew")
	s.Git("switch", "-q", "two")
	s.Git("merge", "-q", "-m", "taken in", "main")
	s.Git("switch", "-q", "main")
	s.Git("revert", "--no-edit", "HEAD")
	s.Git("switch", "-q", "--detach")
	tip := s.Git("rev-parse", "main")
	res, err := s.mergeFrom(s.Git("rev-parse", "one"), "two")
	s.must(err)
	s.removed(res, "one")
	if res.Outcome != merge.BringsBack || res.UserCommits || s.Git("rev-parse", "main") != tip {
		t.Errorf("%+v", res)
	}
	s.clean()
}

// TestTriedBranch: commits of a task do not count as removed because the user tried its branch on the target and
// went back.
func TestTriedBranch(t *testing.T) {
	t.Parallel()
	s := newScene(t, true)
	base := s.Git("rev-parse", "main")
	s.Branch("two", "main", "two", "2\n")
	s.Git("merge", "-q", "two")
	s.Git("reset", "-q", "--hard", base)
	s.Branch("more", "two", "more", "more\n")
	res, err := s.merger.Merge(t.Context(), merge.Request{Target: "main", Head: "more", Base: base, Message: "Merge more\n", Check: green})
	s.must(err)
	s.holds(res.Ref, "first more two")
	if len(res.Removed) > 0 || res.Partial {
		t.Errorf("%+v", res)
	}
	s.contains(res.Ref, "more")
	s.clean()
}

// TestRebased: changes that the target has in other commits do not count as removed. The old commits stay out.
func TestRebased(t *testing.T) {
	t.Parallel()
	s := newScene(t, true)
	one := s.Branch("one", "main", "one", "1\n")
	s.merged("one")
	s.Git("merge", "-q", "--ff-only", queue)
	s.Branch("two", "main", "two", "2\n") // based on one
	s.Branch("three", "main~1", "three", "3\n")
	s.Git("reset", "-q", "--hard", "HEAD~1")
	s.Write("own", "own\n")
	s.Save("own")
	s.Git("cherry-pick", one)
	tip := s.Git("rev-parse", "main")
	for _, head := range []string{"three", "two"} {
		if res := s.merged(head); len(res.Removed) > 0 || res.Partial != (head == "two") {
			t.Errorf("%s: %+v", head, res)
		}
	}
	if in, err := s.Contains(t.Context(), queue, one); err != nil || in {
		t.Errorf("the old commit came back: %v", err)
	}
	s.holds(queue, "first one own three two")
	if s.Git("rev-parse", "main") != tip {
		t.Error("main has moved")
	}
	s.clean()
}

// TestTornReflog: broken reflog entries, and those of commits that no longer exist, are ignored.
func TestTornReflog(t *testing.T) {
	t.Parallel()
	s := newScene(t, true)
	s.Branch("one", "main", "one", "1\n")
	s.Branch("two", "main", "two", "2\n")
	s.merged("one")
	s.Git("merge", "-q", "--ff-only", queue)
	s.Git("reset", "-q", "--hard", "HEAD~1")
	file := filepath.Join(s.CommonDir, "logs/refs/heads/main")
	text, err := os.ReadFile(file)
	s.must(err)
	gone := strings.Repeat("1", 40) + " " + strings.Repeat("2", 40) + " A <a@example.com> 1 +0000\tgone\nrubbish\n"
	s.must(os.WriteFile(file, []byte(gone+string(text)), 0o600))
	res := s.merged("two")
	s.lacks(res.Ref, "one")
	s.removed(res, "Merge one", "one")
	s.clean()
}

// TestTriedBranchWaits: a branch that the user tried does not block later merges.
func TestTriedBranchWaits(t *testing.T) {
	t.Parallel()
	s := newScene(t, true)
	base := s.Git("rev-parse", "main")
	s.Branch("two", "main", "two", "2\n")
	s.Git("merge", "-q", "two")
	s.Git("reset", "-q", "--hard", base)
	s.Branch("three", "main", "three", "3\n")
	res, err := s.merger.Merge(t.Context(), merge.Request{Target: "main", Head: "two", Base: base, Message: "Merge two\n", Check: green})
	s.must(err)
	s.Branch("four", queue, "four", "4\n")
	for _, head := range []string{"three", "four"} {
		res, err = s.merger.Merge(t.Context(), merge.Request{Target: "main", Head: head, Base: s.Git("rev-parse", head+"~1"), Message: "Merge " + head + "\n", Check: green})
		s.must(err)
		if res.Outcome != merge.Merged || len(res.Removed) > 0 || res.Partial {
			t.Errorf("%s: %+v", head, res)
		}
	}
	s.holds(queue, "first four three two")
	s.clean()
}

// TestRebasedReverted: changes that the target got in another commit and then reverted are not brought back.
func TestRebasedReverted(t *testing.T) {
	t.Parallel()
	s := newScene(t, true)
	one := s.Branch("one", "main", "one", "1\n")
	s.Git("merge", "-q", "--ff-only", "one")
	s.Branch("two", "main", "two", "2\n") // based on one
	s.Git("reset", "-q", "--hard", "HEAD~1")
	s.Write("own", "own\n")
	s.Save("own")
	s.Git("cherry-pick", one)
	s.Git("revert", "--no-edit", "HEAD")
	res, err := s.merge("two")
	s.must(err)
	s.removed(res, "one")
	s.holds(queue, "first own two")
	if res.Outcome != merge.Merged {
		t.Errorf("%+v", res)
	}
	s.clean()
}

// TestSquashed: commits that were squashed on the target do not count as removed.
func TestSquashed(t *testing.T) {
	t.Parallel()
	s := newScene(t, true)
	s.Branch("one", "main", "one", "1\n")
	s.merged("one")
	s.Git("merge", "-q", "--ff-only", queue)
	s.Write("own", "own\n")
	s.Save("own")
	s.Branch("two", "main", "two", "2\n")
	s.Branch("three", "main", "three", "3\n")
	s.merged("two")
	s.Git("reset", "-q", "--soft", "HEAD~2")
	s.Git("commit", "-q", "-m", "squashed")
	res := s.merged("three")
	s.holds(res.Ref, "first one own three two")
	if len(res.Removed) > 0 || !res.Partial {
		t.Errorf("%+v", res)
	}
	s.clean()
}

// TestPutBackMeanwhile: if the user removes a commit, and restores it while a merge without it is checked, a branch
// based on it is merged as usual.
func TestPutBackMeanwhile(t *testing.T) {
	t.Parallel()
	s := newScene(t, true)
	s.Branch("one", "main", "one", "1\n")
	s.Git("merge", "-q", "--ff-only", "one")
	s.Branch("two", "main", "two", "2\n") // based on one
	s.Git("reset", "-q", "--hard", "HEAD~1")
	res, err := s.merger.Merge(t.Context(), merge.Request{
		Target: "main", Head: "two", Base: s.Git("rev-parse", "one"), Message: "Merge two\n",
		Check: func(context.Context, string) (*merge.Failure, error) {
			s.Git("reset", "-q", "--hard", "one", "--")
			return nil, nil
		},
	})
	s.must(err)
	s.contains(res.Ref, "two")
	if res.Outcome != merge.Merged || res.Partial || len(res.Removed) > 0 {
		t.Errorf("%+v", res)
	}
	s.clean()
}

// TestRemovedUnderRebased: a task's branch that was rebased onto a commit, which the user then removed, is merged without
// that commit.
func TestRemovedUnderRebased(t *testing.T) {
	t.Parallel()
	s := newScene(t, true)
	base := s.Git("rev-parse", "main")
	s.Write("own", "own\n")
	s.Save("own")
	s.Branch("two", "main", "two", "2\n") // the task's base is older
	s.Git("reset", "-q", "--hard", base)
	res, err := s.merger.Merge(t.Context(), merge.Request{Target: "main", Head: "two", Base: base, Message: "Merge two\n", Check: green})
	s.must(err)
	s.removed(res, "own")
	s.holds(queue, "first two")
	if res.Outcome != merge.Merged || !res.Partial {
		t.Errorf("%+v", res)
	}
	s.clean()
}

// TestSignedCommits: with log.showSignature, git's messages about signatures are not taken for commits.
func TestSignedCommits(t *testing.T) {
	t.Parallel()
	s := newScene(t, true)
	gpg := filepath.Join(s.State, "gpg")
	// A process that is forked meanwhile would hold the file open for writing, and nobody could run it.
	syscall.ForkLock.RLock()
	err := os.WriteFile(gpg, []byte("#!/bin/sh\ncat >/dev/null\ncase \"$*\" in\n*--verify*) echo 'gpg: good' >&2; echo '[GNUPG:] GOODSIG 0123456789ABCDEF User' ;;\n"+
		"*) echo '[GNUPG:] SIG_CREATED D 1 8 00 1 X' >&2; printf -- '-----BEGIN PGP SIGNATURE-----\\n\\nx\\n-----END PGP SIGNATURE-----\\n' ;;\nesac\n"), 0o700)
	syscall.ForkLock.RUnlock()
	s.must(err)
	s.Git("config", "gpg.program", gpg)
	s.Git("config", "log.showSignature", "true")
	s.Write("own", "own\n")
	s.Git("add", "own")
	s.Git("-c", "user.signingKey=x", "commit", "-q", "-S", "-m", "own")
	if log := s.Git("log", "-1", "--format=%H"); !strings.Contains(log, "gpg: good") {
		t.Fatalf("git logs %q", log)
	}
	s.Branch("two", "main", "two", "2\n")
	s.Git("reset", "-q", "--hard", "HEAD~1")
	res, err := s.merge("two")
	s.must(err)
	s.removed(res, "own")
	s.clean()
}

// TestRemovedMerged: merges that the user took with a merge commit or a rebase, and then removed, no longer wait.
func TestRemovedMerged(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"merge", "-q", "-m", "taken", queue}, {"rebase", "-q", queue}} {
		s := newScene(t, true)
		s.Branch("one", "main", "one", "1\n")
		s.Branch("two", "main", "two", "2\n")
		s.merged("one")
		s.Write("own", "own\n")
		own := s.Save("own")
		s.Git(args...)
		s.Git("reset", "-q", "--hard", own)
		s.over(own)
		res := s.merged("two")
		s.lacks(res.Ref, "one")
		s.removed(res, "Merge one", "one")
		s.clean()
	}
}

// TestRemovedOnceThere: what waited and was removed by the user, in whatever way, does not come back with a task that
// began there.
func TestRemovedOnceThere(t *testing.T) {
	t.Parallel()
	took := func(args ...string) func(scene) {
		return func(s scene) {
			s.Write("own", "own\n")
			own := s.Save("own")
			s.Git(append(args, queue)...)
			s.Git("reset", "-q", "--hard", own)
		}
	}
	for name, h := range map[string]struct {
		remove  func(s scene)
		removed []string
		files   string
	}{
		"merged":            {took("merge", "-q", "--no-ff", "--no-edit"), []string{"Merge one", "one"}, "first own two"},
		"rebased":           {took("rebase", "-q"), []string{"Merge one", "one"}, "first own two"},
		"pulled":            {took("pull", "-q", "--no-rebase", "--no-edit", "."), []string{"Merge one", "one"}, "first own two"},
		"pulled by rebase":  {took("pull", "-q", "--rebase", "."), []string{"Merge one", "one"}, "first own two"},
		"no longer waiting": {func(s scene) { s.Git("update-ref", "-d", queue) }, nil, "first two"},
		"taken in part": {func(s scene) {
			waits := s.Git("rev-parse", queue)
			s.merged("three")
			s.Git("merge", "-q", "--ff-only", waits)
			s.Git("reset", "-q", "--hard", "HEAD~1")
		}, []string{"Merge one", "one"}, "first three two"},
		"merged at once": {func(s scene) {
			s.Git("switch", "-q", "--detach")
			s.merged("three")
			s.Git("switch", "-q", "main")
			s.Git("reset", "-q", "--hard", "HEAD~2")
		}, []string{"Merge one", "one"}, "first two"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, true)
			s.Branch("one", "main", "one", "1\n")
			s.Branch("three", "main", "three", "3\n")
			s.merged("one")
			s.Branch("two", queue, "two", "2\n")
			h.remove(s)
			res := s.merged("two")
			s.removed(res, h.removed...)
			s.holds(res.Ref, h.files)
			if in, err := s.Contains(t.Context(), res.Ref, "one"); err != nil || in {
				t.Errorf("the removed commit came back: %v", err)
			}
			s.clean()
		})
	}
}

// TestTriedBranchOnWaiting: who tries the branch of a task that began at what waits, and goes back, has not taken out
// what waits.
func TestTriedBranchOnWaiting(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"merge", "-q", "--no-ff", "-m", "tried", "two"},
		{"rebase", "-q", "two"},
		{"pull", "-q", "--no-rebase", "--no-edit", ".", "two"},
	} {
		s := newScene(t, true)
		s.Branch("one", "main", "one", "1\n")
		s.merged("one")
		s.Branch("two", queue, "two", "2\n")
		s.Write("own", "own\n")
		own := s.Save("own")
		s.Branch("three", "main", "three", "3\n")
		s.Git(args...)
		s.Git("reset", "-q", "--hard", own)
		for _, head := range []string{"three", "two"} {
			res := s.merged(head)
			s.contains(res.Ref, "one")
			s.removed(res)
		}
		s.clean()
	}
}

// TestPulledBranch: who tries the branch of a task by a pull, and goes back, has taken out nothing of the task.
func TestPulledBranch(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"pull", "-q", ".", "two"}, {"cherry-pick", "--ff", "two"}} {
		s := newScene(t, true)
		base := s.Git("rev-parse", "main")
		s.Branch("two", "main", "two", "2\n")
		s.Git(args...)
		s.Git("reset", "-q", "--hard", base)
		s.Branch("three", "main", "three", "3\n")
		for _, head := range []string{"two", "three"} {
			res, err := s.merger.Merge(t.Context(), merge.Request{Target: "main", Head: head, Base: base, Message: "Merge " + head + "\n", Check: green})
			s.must(err)
			s.removed(res)
			if res.Outcome != merge.Merged {
				t.Errorf("%s: %+v", head, res)
			}
		}
		s.clean()
	}
}

// TestSquashedSteps: steps that the target has in one commit were not taken out, though a merge of the first step
// alone would be a conflict; and steps that cancel each other do not come back.
func TestSquashedSteps(t *testing.T) {
	t.Parallel()
	for name, squash := range map[string]func(s scene){
		"squashed": func(s scene) {
			s.Git("reset", "-q", "--soft", "HEAD~2")
			s.Git("commit", "-q", "-m", "squashed")
		},
		"undone and dropped": func(s scene) {
			s.Git("revert", "--no-edit", "HEAD~1..HEAD")
			s.Git("revert", "--no-edit", "HEAD~2")
			s.merged("two")
			s.Git("reset", "-q", "--hard", "HEAD~4")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, true)
			s.Branch("one", "main", "one", "1\n")
			s.Branch("two", "main", "two", "2\n")
			s.Branch("three", "main", "three", "3\n")
			s.merged("one")
			for _, step := range []string{"first step\n", "second step\n"} {
				s.Write("own", step)
				s.Save(step)
			}
			s.merged("two")
			squash(s)
			s.removed(s.merged("three"))
			s.clean()
		})
	}
}
