package merge_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"codeloops/internal/proc"
	"codeloops/internal/queue/git/gittest"
	"codeloops/internal/queue/merge"
	"codeloops/internal/queue/place"
	"codeloops/internal/wording/hint"
)

func TestMain(m *testing.M) {
	if proc.Keep() {
		return
	}
	os.Exit(m.Run())
}

// A scene is a user's repository with a merger.
type scene struct {
	*gittest.Repo
	merger *merge.Merger
}

func at(r *gittest.Repo) scene {
	r.Helper()
	m, err := merge.New(r.Repo, r.State)
	if err != nil {
		r.Fatal(err)
	}
	return scene{r, m}
}

// newScene makes a repository in which main is checked out, or no branch.
func newScene(t *testing.T, out bool) scene {
	t.Helper()
	s := at(gittest.New(t))
	if !out {
		s.Git("switch", "-q", "--detach")
	}
	return s
}

const (
	queue = "refs/codeloops/queue/main"
)

// green is a project's check. It fails for files that contain "red", or "needs:" and a file that does not exist.
func green(_ context.Context, dir string) (*merge.Failure, error) {
	var red []string
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	for _, name := range names {
		text, _ := os.ReadFile(name)
		for word := range strings.FieldsSeq(string(text)) {
			half, needs := strings.CutPrefix(word, "needs:")
			if _, e := os.Lstat(filepath.Join(dir, half)); word == "red" || needs && e != nil {
				red = append(red, filepath.Base(name)+" "+word)
			}
		}
	}
	if len(red) > 0 {
		return &merge.Failure{Check: "green", Output: strings.Join(red, "\n")}, nil
	}
	return nil, err
}

// merge merges a branch with one commit.
func (s scene) merge(head string) (merge.Result, error) {
	s.Helper()
	return s.mergeFrom(s.Git("rev-parse", head+"~1"), head)
}

func (s scene) mergeFrom(base, head string) (merge.Result, error) {
	return s.merger.Merge(s.Context(), merge.Request{Target: "main", Head: head, Base: base, Message: "Merge " + head + "\n", Check: green})
}

func (s scene) merged(head string) merge.Result {
	s.Helper()
	res, err := s.merge(head)
	s.must(err)
	if res.Outcome != merge.Merged {
		s.Fatalf("%s: %+v", head, res)
	}
	s.contains(res.Ref, head)
	return res
}

func (s scene) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s scene) contains(ref, commit string) {
	s.Helper()
	if in, err := s.Contains(s.Context(), ref, commit); err != nil || !in {
		s.Errorf("%s does not contain %s: %v", ref, commit, err)
	}
}

// took takes what waits for main, as the user.
func (s scene) took() string {
	s.Helper()
	tip, err := s.merger.Take(s.Context(), "main", func(string) error { return nil })
	s.must(err)
	return tip
}

// clean expects that merges left nothing behind.
func (s scene) clean() {
	s.Helper()
	if trees := s.Git("worktree", "list"); strings.Contains(trees, "\n") {
		s.Errorf("left %s", trees)
	}
	if entries, err := os.ReadDir(filepath.Join(s.CommonDir, "worktrees")); len(entries) > 0 {
		s.Errorf("left %v, %v", entries, err)
	}
	left, _ := filepath.Glob(filepath.Join(s.State, "*", "merges", "*", "*"))
	left = slices.DeleteFunc(left, func(name string) bool {
		name = filepath.Base(name)
		return name == "codeloops-lock" || strings.HasPrefix(name, "refs-") || strings.HasPrefix(name, ".codeloops-")
	})
	if len(left) > 0 {
		s.Errorf("left %q", left)
	}
}

// TestMerge: branches are merged one after the other, into the target or into the waiting merges if it is checked
// out.
func TestMerge(t *testing.T) {
	t.Parallel()
	for _, out := range []bool{false, true} {
		s := newScene(t, out)
		base := s.Git("rev-parse", "main")
		s.Put(s.CommonDir, "hooks/reference-transaction", "#!/bin/sh\nexit 1\n")
		s.must(os.Chmod(filepath.Join(s.CommonDir, "hooks/reference-transaction"), 0o700))
		s.Write("dirty", "dirty\n")
		s.Write("first", "dirty\n")
		before := s.Untouched()
		one := s.Branch("one", "main", "one", "1\n")
		two := s.Branch("two", "main", "two", "2\n")
		ref := "refs/heads/main"
		if out {
			ref = queue
		}
		res := s.merged("one")
		if res.Ref != ref || res.Waits != out || s.Git("rev-parse", ref) != res.Tip || res.UserCommits {
			t.Errorf("%+v", res)
		}
		if about := s.Git("log", "-1", "--format=%P %s, %an <%ae>", ref); about != base+" "+one+" Merge one, User <user@example.com>" {
			t.Errorf("the merge commit is %q", about)
		}
		first := res.Tip
		res = s.merged("two")
		if parents := s.Git("log", "-1", "--format=%P", ref); parents != first+" "+two {
			t.Errorf("the parents are %q", parents)
		}
		if again := s.merged("one"); again.Tip != res.Tip || again.Ref != ref || again.Waits != out {
			t.Errorf("again: %+v", again)
		}
		if s.Untouched() != before {
			t.Error("the user's HEAD, index or files have changed")
		}
		s.clean()
	}
}

// TestTaken: once the user has taken the waiting merges, the next task is merged onto the target again.
func TestTaken(t *testing.T) {
	t.Parallel()
	s := newScene(t, true)
	s.Branch("one", "main", "one", "1\n")
	s.Branch("two", "main", "two", "2\n")
	s.Branch("three", "main", "three", "3\n")
	onto := func(want string) {
		t.Helper()
		if got, err := s.onto(); err != nil || got != s.Git("rev-parse", want) {
			t.Errorf("the next task begins at %s, %v, want %s", got, err, want)
		}
	}
	onto("main")
	s.merged("one")
	onto(queue)
	s.took()
	s.Save("own")
	onto("main")
	res := s.merged("two")
	if s.Git("rev-parse", queue+"^1") != s.Git("rev-parse", "main") {
		t.Error("the merge is not based on the target")
	}
	s.Git("switch", "-q", "--detach")
	if res = s.merged("two"); res.Ref != "refs/heads/main" || res.Waits || s.Git("rev-parse", "main") != res.Tip {
		t.Errorf("%+v", res)
	}
	s.Fails("rev-parse", "--verify", queue)
	s.Git("switch", "-q", "main")
	s.merged("three")
	s.Git("merge", "-q", "--ff-only", queue)
	if res = s.merged("three"); res.Ref != "refs/heads/main" || res.Waits {
		t.Errorf("%+v", res)
	}
	s.Fails("rev-parse", "--verify", queue)
	s.clean()
}

// TestOtherWorkTree: a target that is checked out in another work tree, or being rebased there, is not moved.
func TestOtherWorkTree(t *testing.T) {
	t.Parallel()
	s := newScene(t, false)
	other := filepath.Join(s.State, "it's other")
	s.Git("worktree", "add", "-q", other, "main")
	s.Branch("one", "main", "one", "1\n")
	res := s.merged("one")
	if s.took(); s.In(other, "status", "--porcelain") != "" || s.Text(other, "one") != "1\n" {
		t.Errorf("%+v was not taken", res)
	}
	s.Put(other, "one", "other\n")
	s.In(other, "commit", "-qam", "other")
	tip := s.Branch("rival", "main~1", "one", "rival\n")
	if _, err := s.Run(t.Context(), other, "rebase", "rival"); err == nil {
		t.Fatal("no conflict")
	}
	s.Branch("two", "main", "two", "2\n")
	if res = s.merged("two"); res.Ref != queue {
		t.Errorf("%+v, main should be at %s", res, tip)
	}
}

// TestBesideDeleted: what waits for a deleted branch x leaves no room for what is to wait for x/y, and the other way round.
// Git says so, and nothing is lost.
func TestBesideDeleted(t *testing.T) {
	t.Parallel()
	for _, names := range [][2]string{{"x", "x/y"}, {"x/y", "x"}} {
		s := newScene(t, true)
		onto := func(target, head string) (merge.Result, error) {
			return s.merger.Merge(t.Context(), merge.Request{Target: target, Head: head, Base: "main", Message: "Merge " + head + "\n", Check: green})
		}
		s.Branch("one", "main", "one", "1\n")
		s.Branch("two", "main", "two", "2\n")
		s.Git("switch", "-q", "-c", names[0])
		first, err := onto(names[0], "one")
		s.must(err)
		s.Git("switch", "-q", "main")
		s.Git("branch", "-q", "-D", names[0])
		s.Git("switch", "-q", "-c", names[1])
		if _, err = onto(names[1], "two"); err == nil || !strings.Contains(err.Error(), first.Ref) || !strings.Contains(err.Error(), "cannot create") {
			t.Fatal(err)
		}
		s.contains(first.Ref, "one")
		s.Git("update-ref", "-d", first.Ref)
		res, err := onto(names[1], "two")
		s.must(err)
		s.contains(res.Ref, "two")
		s.clean()
	}
}

// TestConflict: a conflict names its files and moves no ref.
func TestConflict(t *testing.T) {
	t.Parallel()
	for _, out := range []bool{false, true} {
		s := newScene(t, out)
		s.Branch("one", "main", "first", "one\n", "d/x", "one\n")
		s.Branch("two", "main", "first", "two\n", "d/x", "two\n")
		first := s.merged("one")
		res, err := s.merge("two")
		s.must(err)
		if res.Outcome != merge.Conflict || !slices.Equal(res.Files, []string{"d/x", "first"}) || res.Tip != first.Tip || res.UserCommits ||
			!strings.Contains(res.Text, "Merge conflict in first") || s.Git("rev-parse", first.Ref) != first.Tip {
			t.Errorf("%+v", res)
		}
	}
}

// TestFailedMergeReportedAsSuccess: a merge whose check fails is not on the target, and one that cannot be made or
// checked is an error.
func TestFailedMergeReportedAsSuccess(t *testing.T) {
	t.Parallel()
	for _, out := range []bool{false, true} {
		s := newScene(t, out)
		s.Branch("one", "main", "one", "needs:first")
		s.Git("checkout", "-q", "-b", "two", "main")
		s.must(os.Remove(filepath.Join(s.Root, "first")))
		s.Save("two")
		s.Git("checkout", "-q", "main")
		if !out {
			s.Git("switch", "-q", "--detach")
		}
		tip := s.merged("one").Tip
		res, err := s.merge("two")
		s.must(err)
		if res.Outcome != merge.Red || res.Failure.Check != "green" || res.Failure.Output != "one needs:first" || res.Tip != tip {
			t.Errorf("%+v", res)
		}
		s.clean()
		broken := errors.New("broken")
		_, err = s.merger.Merge(t.Context(), merge.Request{
			Target: "main", Head: "two", Message: "m",
			Check: func(context.Context, string) (*merge.Failure, error) { return nil, broken },
		})
		if !errors.Is(err, broken) {
			t.Errorf("error %v", err)
		}
		if now := s.Git("rev-parse", res.Ref); now != tip {
			t.Errorf("the target is at %s, want %s", now, tip)
		}
		s.clean()
	}
}

// TestChecksWithEnv: checks find the files that .worktreeinclude names.
func TestChecksWithEnv(t *testing.T) {
	t.Parallel()
	s := newScene(t, true)
	s.Write(".gitignore", ".env\nnode_modules\n")
	s.Write(".worktreeinclude", ".env\nnode_modules\n")
	s.Save("rules")
	s.Write(".env", "secret\n")
	s.Write("node_modules/a", "a\n")
	site, err := place.New(s.Repo.Repo, s.State)
	s.must(err)
	s.Branch("one", "main", "one", "1\n")
	var seen string
	_, err = s.merger.Merge(t.Context(), merge.Request{
		Target: "main", Head: "one", Message: "m",
		Check: func(ctx context.Context, dir string) (*merge.Failure, error) {
			_, err := site.Bring(ctx, dir)
			seen = s.Text(dir, ".env") + s.Text(dir, "node_modules/a") + s.Text(dir, "one")
			return nil, err
		},
	})
	if err != nil || seen != "secret\na\n1\n" {
		t.Errorf("checked with %q, %v", seen, err)
	}
	s.clean()
}

// TestUserCommits: commits that the user makes on the target are merged into the waiting merges first, and checked.
func TestUserCommits(t *testing.T) {
	t.Parallel()
	s := newScene(t, true)
	s.Branch("one", "main", "one", "1\n")
	s.Branch("two", "main", "two", "2\n")
	s.merged("one")
	s.Write("own", "own\n")
	own := s.Save("own")
	before := s.Untouched()
	res := s.merged("two")
	s.contains(res.Ref, own)
	if s.Untouched() != before {
		t.Error("the user's HEAD, index or files have changed")
	}
	s.Git("merge", "-q", "--ff-only", queue)

	s.Branch("three", "main", "three", "needs:first\n", "four", "4\n")
	s.Branch("five", "main", "five", "5\n")
	s.merged("three")
	s.Write("four", "own\n")
	s.Save("own")
	res, err := s.merge("five")
	s.must(err)
	if res.Outcome != merge.Conflict || !res.UserCommits || res.Ref != queue || !slices.Equal(res.Files, []string{"four"}) {
		t.Errorf("%+v", res)
	}
	if res = s.merged("three"); !res.UserCommits {
		t.Errorf("%+v", res)
	}
	s.Git("reset", "-q", "--hard", "HEAD~1")
	s.must(os.Remove(filepath.Join(s.Root, "first")))
	s.Save("without first")
	res, err = s.merge("five")
	s.must(err)
	if res.Outcome != merge.Red || !res.UserCommits || res.Failure.Output != "three needs:first" {
		t.Errorf("%+v", res)
	}
	s.Git("reset", "-q", "--hard", "HEAD~1")
	s.Write("six", "6\n")
	own = s.Save("six")
	if res = s.merged("three"); res.UserCommits || !res.Waits {
		t.Errorf("%+v", res)
	}
	s.contains(res.Ref, own)
	s.clean()
}

// TestLostRace: commits made on the target while a merge is checked are not lost. If that goes on, the merge gives up
// with an error.
func TestLostRace(t *testing.T) {
	t.Parallel()
	for _, out := range []bool{false, true} {
		for _, races := range []int{2, 100} {
			s := newScene(t, out)
			s.Branch("one", "main", "one", "1\n")
			var own []string
			res, err := s.merger.Merge(t.Context(), merge.Request{
				Target: "main", Head: "one", Message: "m",
				Check: func(context.Context, string) (*merge.Failure, error) {
					if len(own) < races {
						own = append(own, s.Git("commit-tree", "-p", "main", "-m", "own", "main^{tree}"))
						s.Git("update-ref", "refs/heads/main", own[len(own)-1])
					}
					return nil, nil
				},
			})
			if races == 100 {
				if _, ok := hint.Of(err); !ok || !strings.Contains(err.Error(), "moved on") {
					t.Errorf("error %v", err)
				}
				continue
			}
			s.must(err)
			s.contains(res.Ref, own[len(own)-1])
			s.contains(res.Ref, "one")
			s.clean()
		}
	}
}

// TestStandsStill: a merger that waits for another one, or is cancelled, says so in its error.
func TestStandsStill(t *testing.T) {
	t.Parallel()
	s := newScene(t, true)
	s.Branch("one", "main", "one", "1\n")
	begun, end, over := make(chan bool), make(chan bool), make(chan error)
	go func() {
		_, err := s.merger.Merge(s.Context(), merge.Request{
			Target: "main", Head: "one", Message: "m",
			Check: func(context.Context, string) (*merge.Failure, error) {
				close(begun)
				<-end
				return nil, nil
			},
		})
		over <- err
	}()
	<-begun
	ctx, cancel := context.WithTimeoutCause(t.Context(), 3*time.Second, errors.New("no more time"))
	defer cancel()
	_, err := s.merger.Merge(ctx, merge.Request{Target: "main", Head: "one", Message: "m", Check: green})
	if err == nil || !strings.Contains(err.Error(), "wait for process") || !strings.Contains(err.Error(), "no more time") {
		t.Errorf("error %v", err)
	}
	close(end)
	s.must(<-over)
	ctx, stop := context.WithCancelCause(t.Context())
	s.Branch("two", "main", "two", "2\n")
	_, err = s.merger.Merge(ctx, merge.Request{
		Target: "main", Head: "two", Message: "m",
		Check: func(context.Context, string) (*merge.Failure, error) {
			stop(errors.New("called off"))
			return nil, nil
		},
	})
	if err == nil || !strings.Contains(err.Error(), "called off") {
		t.Errorf("error %v", err)
	}
	s.clean()
	s.merged("two")
}

// TestRefused: a missing branch or commit is an error with a hint.
func TestRefused(t *testing.T) {
	t.Parallel()
	s := newScene(t, true)
	s.Branch("one", "main", "one", "1\n")
	refused := func(target, head, words, advice string) {
		t.Helper()
		_, err := s.merger.Merge(t.Context(), merge.Request{Target: target, Head: head, Message: "m"})
		if got, ok := hint.Of(err); !ok || !strings.Contains(err.Error(), words) || !strings.Contains(got, advice) {
			t.Errorf("%v, hint %q", err, got)
		}
	}
	refused("something", "one", "there is no branch something", "git branch")
	refused("main", "nothing", `"nothing" is no commit`, "last commit")
	s.Git("switch", "-q", "--orphan", "fresh")
	refused("fresh", "one", "there is no branch fresh", "git branch fresh COMMIT makes it")
	_, err := merge.New(s.Repo.Repo, filepath.Join(s.CommonDir, "x"))
	if _, ok := hint.Of(err); !ok {
		t.Errorf("error %v", err)
	}
}

// TestSubmodule: a submodule that both sides have changed is a conflict, named by its path.
func TestSubmodule(t *testing.T) {
	t.Parallel()
	s, lib := newScene(t, true), gittest.New(t)
	s.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib.Root, "lib")
	s.Save("lib")
	link := func(branch, commit string) {
		s.Git("update-index", "--cacheinfo", "160000,"+commit+",lib")
		s.Git("branch", branch, s.Git("commit-tree", "-p", "main", "-m", branch, s.Git("write-tree")))
		s.Git("reset", "-q")
	}
	a, b := lib.Branch("a", "main", "a", "a\n"), lib.Branch("b", "main", "b", "b\n")
	link("one", a)
	link("two", b)
	s.merged("one")
	res, err := s.merge("two")
	s.must(err)
	if res.Outcome != merge.Conflict || !slices.Equal(res.Files, []string{"lib"}) || !strings.Contains(res.Text, "lib") {
		t.Errorf("%+v", res)
	}
	s.clean()
}

// TestMergedByTheAgent: a branch that somebody else has merged already, perhaps its own agent, is checked all the same.
func TestMergedByTheAgent(t *testing.T) {
	t.Parallel()
	for _, out := range []bool{false, true} {
		const ref = "refs/heads/main"
		s := newScene(t, out)
		s.Branch("bad", "main", "bad", "red")
		s.Git("update-ref", ref, "bad")
		res, err := s.merge("bad")
		s.must(err)
		if res.Outcome != merge.Red || res.Ref != ref || res.Tip != s.Git("rev-parse", "bad") || res.Failure.Output != "bad red" {
			t.Errorf("%+v", res)
		}
		s.clean()
		s.Branch("good", "bad", "bad", "mended")
		s.Git("update-ref", ref, "good")
		s.merged("good")
		s.clean()
	}
}

// TestForeign: what somebody else, such as an agent, has set a ref of the merger to is not merged, until it is put back
// or the target has it.
func TestForeign(t *testing.T) {
	t.Parallel()
	for _, out := range []bool{false, true} {
		s := newScene(t, out)
		base, err := s.onto()
		s.must(err)
		s.Branch("evil", "main", "evil", "1\n")
		s.Branch("one", "main", "one", "1\n")
		s.Branch("two", "main", "two", "2\n")
		was := strings.Repeat("0", len(base))
		for range 2 {
			s.Git("update-ref", queue, "evil")
			if _, err := s.merge("one"); !errors.Is(err, merge.ErrForeign) {
				t.Errorf("checked out %t: %v", out, err)
			}
			if _, err := s.onto(); !errors.Is(err, merge.ErrForeign) {
				t.Errorf("checked out %t: a new task: %v", out, err)
			}
			s.Git("update-ref", queue, was)
			s.merged("one")
			if refs, err := s.Refs(queue); err != nil || refs[queue] != "" {
				was = refs[queue]
			}
		}
		s.Git("update-ref", queue, "evil")
		s.Git("switch", "-q", "main")
		s.Git("merge", "-q", "--no-edit", "evil")
		if !out {
			s.Git("switch", "-q", "--detach")
		}
		s.merged("two")
		s.clean()
	}
}

// TestRewound: a ref that somebody has moved back has lost merges, and nothing is merged onto it.
func TestRewound(t *testing.T) {
	t.Parallel()
	s := newScene(t, true)
	for _, name := range []string{"one", "two", "three", "four"} {
		s.Branch(name, "main", name, name+"\n")
	}
	first := s.merged("one").Tip
	s.merged("two")
	last := s.merged("three").Tip
	s.Git("update-ref", queue, first)
	if _, err := s.merge("four"); !errors.Is(err, merge.ErrForeign) {
		t.Errorf("merged onto %s: %v", first, err)
	}
	s.Git("update-ref", queue, last)
	s.merged("four")
	s.clean()
}

// TestNothingToMerge: a branch without a commit of its own is not checked.
func TestNothingToMerge(t *testing.T) {
	t.Parallel()
	s := newScene(t, true)
	s.Write("bad", "red")
	s.Save("bad")
	if res, err := s.mergeFrom(s.Git("rev-parse", "main"), s.Git("rev-parse", "main")); err != nil || res.Outcome != merge.Merged {
		t.Errorf("%+v, %v", res, err)
	}
}
