package diff_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"codeloops/internal/diff"
	"codeloops/internal/loop"
)

// TestResumeRandom: each state of a random history can be resumed from its checkpoint in
// another tree, as in another process.
func TestResumeRandom(t *testing.T) {
	t.Parallel()
	for seed := range randomCount(20) {
		t.Run(strconv.Itoa(seed), func(t *testing.T) {
			t.Parallel()
			h := newHistory(t, 2_000_000+uint64(seed))
			h.rand = rand.New(rand.NewPCG(uint64(seed), 3))
			tree, o := h.begin(), newOracle(h.sandbox)
			base := h.checkpoint(tree, tree.BaseState(), "s/0")
			for n := range 2 {
				h.steps(h.rand.IntN(8))
				c := o.capture(tree)
				h.checkpoint(tree, c.State, "s/"+strconv.Itoa(n+1))
				again := h.open()
				h.must(again.Resume(t.Context(), base))
				resumed := o.capture(again)
				if !reflect.DeepEqual(resumed, c) {
					t.Fatalf("resumed:\n%s\nwant:\n%s", resumed.Patch(), c.Patch())
				}
			}
		})
	}
}

// randomCount returns the number of random sequences to try.
func randomCount(ordinary int) int {
	if n, err := strconv.Atoi(os.Getenv("CODELOOPS_FUZZ_DIFF")); err == nil {
		return n
	}
	if testing.Short() {
		return min(ordinary, 3)
	}
	return ordinary
}

// checkpoint stores a state, and checks that git finds all of it.
func (h *history) checkpoint(tree *diff.Tree, state, name string) string {
	h.t.Helper()
	commit, err := tree.Checkpoint(h.t.Context(), state, name, "State "+name)
	h.must(err)
	got := h.keptGit("rev-parse", "refs/codeloops/"+name+"^{tree}")
	if nested := strings.Contains(h.keptGit("cat-file", "commit", commit), `"links":`); nested {
		got, err = h.open().Recall(commit) // a single tree cannot hold all of it
		h.must(err)
	}
	if got != state {
		h.t.Fatalf("checkpoint %s has the tree %s, want %s", name, got, state)
	}
	h.keptGit("rev-list", "--objects", "--quiet", commit)
	h.checkHead(commit)
	return commit
}

// checkHead checks what a checkpoint records about HEAD.
func (s *sandbox) checkHead(commit string) {
	s.t.Helper()
	var want, got struct{ Head, Branch string }
	if head, err := s.run(s.t.Context(), s.root, nil, nil, "rev-parse", "--verify", "--quiet", "HEAD"); err == nil {
		want.Head = strings.TrimSpace(string(head))
	}
	want.Branch = s.git("branch", "--show-current")
	_, text, _ := strings.Cut(s.keptGit("log", "-1", "--format=%B", commit), "\ncodeloops: ")
	s.must(json.Unmarshal([]byte(text), &got))
	if got != want {
		s.t.Errorf("the checkpoint says %q, want %q", got, want)
	}
}

// TestCheckpointTellsHead: a checkpoint records where HEAD was, whatever the index is like.
func TestCheckpointTellsHead(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]func(*sandbox){
		"plain":            func(*sandbox) {},
		"staged":           func(s *sandbox) { s.write("b", "b\n"); s.git("add", "b") },
		"empty":            func(s *sandbox) { s.git("rm", "-q", "--cached", "-r", ".") },
		"intended":         func(s *sandbox) { s.write("b", "b\n"); s.git("add", "-N", "b") },
		"detached":         func(s *sandbox) { s.git("checkout", "-q", "--detach") },
		"on another":       func(s *sandbox) { s.git("checkout", "-q", "-b", "a/b-ü") },
		"on an unborn one": func(s *sandbox) { s.git("checkout", "-q", "--orphan", "new") },
		"in a conflict": func(s *sandbox) {
			s.git("checkout", "-q", "-b", "other")
			s.write("f", "other\n")
			s.commit("other")
			s.git("checkout", "-q", "-")
			s.write("f", "main\n")
			s.commit("main")
			if _, err := s.run(t.Context(), s.root, nil, nil, "merge", "other"); err == nil {
				t.Error("no conflict")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newRepo(t)
			s.write("f", "f\n")
			s.write("d/e", "e\n")
			s.commit("first")
			step(s)
			settle()
			for range 2 { // the second checkpoint uses what the first has saved
				tree := s.open()
				s.must(tree.Baseline(t.Context()))
				commit, err := tree.Checkpoint(t.Context(), tree.BaseState(), "x/0", "Before")
				s.must(err)
				s.checkHead(commit)
				s.must(tree.Close())
			}
		})
	}
}

func TestCheckpoint(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.write("f", "f\n")
	s.commit("first")
	s.write("untracked", "u\n")
	large := strings.Repeat("0123456789abcdef", 21<<16)
	s.write("d/large", large)
	tree := s.begin()
	status := s.git("status", "--porcelain")
	first, err := tree.Checkpoint(t.Context(), tree.BaseState(), "x/0", "Before the session")
	s.must(err)
	s.append("f", "more\n")
	c, err := tree.Capture(t.Context())
	s.must(err)
	second, err := tree.Checkpoint(t.Context(), c.State, "x/1", "After the first turn\n\nMore.\n")
	s.must(err)
	says := fmt.Sprintf(`codeloops: {"large":{"d/large":"100644 %s %d"},"head":"%s","branch":"main",`, s.git("hash-object", "d/large"), len(large), tree.BaseCommit())
	if got, want := s.keptGit("log", "-1", "--format=%P|%B", second), "|After the first turn\n\nMore.\n\n"+says; !strings.HasPrefix(got, want) {
		t.Errorf("commit %q, want %q", got, want)
	}
	s.git("checkout", "-q", "f")
	if got := s.git("status", "--porcelain"); got != status || s.git("for-each-ref", "refs/heads", "--format=%(objectname)") != tree.BaseCommit() {
		t.Errorf("status %q, was %q", got, status)
	}

	again := s.open()
	s.must(again.Resume(t.Context(), first))
	if c, err := again.Capture(t.Context()); err != nil || !c.Empty() || again.BaseState() != tree.BaseState() {
		t.Errorf("resumed to state %s, want %s: %s, %v", again.BaseState(), tree.BaseState(), c.Patch(), err)
	}
	s.append("d/large", "more")
	if c, err := again.Capture(t.Context()); err != nil || summary(c) != "M d/large\n" || c.Files[0].OldSize != int64(len(large)) {
		t.Errorf("resumed to %+v, %v", c, err)
	}
	if _, err := tree.Checkpoint(t.Context(), "none", "x/3", "none"); !errors.Is(err, diff.ErrUnknownState) {
		t.Errorf("checkpoint of an unknown state: %v", err)
	}
	if err := s.open().Resume(t.Context(), strings.Repeat("1", 40)); err == nil {
		t.Error("resumed from a missing commit")
	}
}

// TestCheckpointMany: the contents of many files are stored in one pack, and can be
// restored after git has cleaned up.
func TestCheckpointMany(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	name := func(i int) string { return fmt.Sprintf("d%d/e%d/f%d", i%7, i%3, i) }
	fill := func(content string) {
		for i := range 300 {
			s.write(name(i), fmt.Sprintf("%s %d\n", content, i))
		}
	}
	fill("first")
	s.commit("first")
	fill("before")
	tree := s.begin()
	base, err := tree.Checkpoint(t.Context(), tree.BaseState(), "x/0", "Before")
	s.must(err)
	fill("after")
	c, err := tree.Capture(t.Context())
	s.must(err)
	last, err := tree.Checkpoint(t.Context(), c.State, "x/1", "After")
	s.must(err)
	if packs, err := filepath.Glob(filepath.Join(s.own, "objects/pack/*.idx")); err != nil || len(packs) != 2 { // one for the baseline, and one for the checkpoint after it
		t.Errorf("packs %q, %v", packs, err)
	}
	s.keptGit("gc", "-q", "--prune=now")
	s.keptGit("fsck", "--strict", "--full")
	if got := s.keptGit("rev-parse", last+"^{tree}"); got != c.State {
		t.Errorf("the last tree is %s, not %s", got, c.State)
	}
	s.restore(tree, loop.Change{State: tree.BaseState()})
	for i := range 300 {
		if got, err := os.ReadFile(s.path(name(i))); err != nil || string(got) != fmt.Sprintf("before %d\n", i) {
			t.Fatalf("%s is %q, %v", name(i), got, err)
		}
	}
	again := s.open()
	s.must(again.Resume(t.Context(), base))
	if c, err := again.Capture(t.Context()); err != nil || !c.Empty() {
		t.Errorf("resumed: %s, %v", c.Patch(), err)
	}
}

// TestCheckpointGone: a checkpoint reuses objects of the previous one only if they still
// exist.
func TestCheckpointGone(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.write("f", "f\n")
	s.commit("first")
	s.write("d/untracked", "u\n")
	tree := s.begin()
	_, err := tree.Checkpoint(t.Context(), tree.BaseState(), "x/0", "Before")
	s.must(err)
	s.keptGit("update-ref", "-d", "refs/codeloops/x/0")
	s.keptGit("prune", "--expire=now")
	s.append("f", "more\n")
	c, err := tree.Capture(t.Context())
	s.must(err)
	last, err := tree.Checkpoint(t.Context(), c.State, "x/1", "After")
	s.must(err)
	if got := s.keptGit("cat-file", "blob", last+":d/untracked"); got != "u" {
		t.Errorf("the untracked file is %q", got)
	}
}

// TestRecall: a state that another process recorded can be restored.
func TestRecall(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.write("tracked", "t\n")
	s.write("d/f", "f\n")
	s.commit("first")
	s.write("untracked", "u\n")
	first := s.begin()
	s.write("new", "new\n")
	s.remove("d")
	c, err := first.Capture(t.Context())
	s.must(err)
	commit, err := first.Checkpoint(t.Context(), c.State, "s/1", "State")
	s.must(err)
	s.append("tracked", "more\n")
	s.remove("new")
	s.write("later", "l\n")

	second := s.open()
	state, err := second.Recall(commit)
	s.must(err)
	if state != c.State {
		t.Errorf("state %s, want %s", state, c.State)
	}
	s.restore(second, loop.Change{State: state})
	again, err := first.Capture(t.Context())
	s.must(err)
	if !reflect.DeepEqual(again, c) {
		t.Errorf("restored to %s, want %s", again.Patch(), c.Patch())
	}
}
