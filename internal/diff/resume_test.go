package diff_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"codeloops/internal/diff"
)

// TestResumeRandom keeps the beginning and each capture of random histories,
// and takes one of them up again in another tree, as another process would.
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

func randomCount(ordinary int) int {
	if n, err := strconv.Atoi(os.Getenv("CODELOOPS_FUZZ_DIFF")); err == nil {
		return n
	}
	return ordinary
}

// checkpoint keeps a state, and checks that git finds all of it.
func (h *history) checkpoint(tree *diff.Tree, state, name string) string {
	h.t.Helper()
	commit, err := tree.Checkpoint(h.t.Context(), state, name, "State "+name)
	h.must(err)
	if got := h.git("rev-parse", "refs/codeloops/"+name+"^{tree}"); got != state {
		h.t.Fatalf("checkpoint %s has the tree %s, want %s", name, got, state)
	}
	h.git("rev-list", "--objects", "--quiet", commit)
	return commit
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
	if got, want := s.git("log", "-1", "--format=%P|%B", second), first+" "+tree.BaseCommit()+"|After the first turn\n\nMore.\n"; got != want {
		t.Errorf("commit %q, want %q", got, want)
	}
	if got := s.git("cat-file", "-s", second+":d/large"); got != strconv.Itoa(len(large)) {
		t.Errorf("large file kept with %s bytes", got)
	}
	s.git("checkout", "-q", "f")
	if got := s.git("status", "--porcelain"); got != status || s.git("for-each-ref", "refs/heads", "--format=%(objectname)") != tree.BaseCommit() {
		t.Errorf("status %q, was %q", got, status)
	}

	s.append("d/large", "more")
	c, err = tree.Capture(t.Context())
	s.must(err)
	s.append("d/large", "still more")
	if _, err := tree.Checkpoint(t.Context(), c.State, "x/2", "lost"); err == nil || !strings.Contains(err.Error(), "d/large") {
		t.Errorf("checkpoint of lost content: %v", err)
	}
	if _, err := tree.Checkpoint(t.Context(), "none", "x/3", "none"); !errors.Is(err, diff.ErrUnknownState) {
		t.Errorf("checkpoint of an unknown state: %v", err)
	}
	if err := s.open().Resume(t.Context(), strings.Repeat("1", 40)); err == nil {
		t.Error("resumed from a commit that is not there")
	}
}
