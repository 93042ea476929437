package diff_test

import (
	"errors"
	"math/rand/v2"
	"strconv"
	"testing"

	"codeloops/internal/diff"
	"codeloops/internal/loop"
)

// TestBetweenRandom: comparing two captures of a random history gives git's diff, in the
// process that took them and in one that knows the first only by its checkpoint.
func TestBetweenRandom(t *testing.T) {
	t.Parallel()
	for seed := range randomCount(15) {
		t.Run(strconv.Itoa(seed), func(t *testing.T) {
			t.Parallel()
			h := newHistory(t, 3_000_000+uint64(seed))
			h.rand = rand.New(rand.NewPCG(uint64(seed), 4))
			tree, o := h.begin(), newOracle(h.sandbox)
			base := h.checkpoint(tree, tree.BaseState(), "s/0")
			h.steps(h.rand.IntN(8))
			first := o.capture(tree)
			first.Checkpoint = h.checkpoint(tree, first.State, "s/1")
			h.steps(h.rand.IntN(8))
			second := o.capture(tree)
			to := h.checkpoint(tree, second.State, "s/2")
			want := o.filesOnly(first.Checkpoint, to)

			again := h.open()
			h.must(again.Resume(t.Context(), base))
			_, err := again.Capture(t.Context())
			h.must(err)
			for who, tree := range map[string]*diff.Tree{"the same process": tree, "another": again} {
				step, err := tree.Between(t.Context(), first, second)
				h.must(err)
				if got := withoutLinks(step).Patch(); got != want {
					t.Errorf("%s:\n%s\nwant:\n%s", who, got, want)
				}
				whole, err := tree.Between(t.Context(), loop.Change{}, second)
				h.must(err)
				if got := whole.Patch(); got != second.Patch() {
					t.Errorf("%s: from the baseline:\n%s\nwant:\n%s", who, got, second.Patch())
				}
			}
		})
	}
}

func TestBetweenUnknownStates(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.write("f", "f\n")
	s.commit("first")
	tree := s.begin()
	_, err := tree.Between(t.Context(), loop.Change{State: "0123"}, loop.Change{})
	if !errors.Is(err, diff.ErrUnknownState) {
		t.Errorf("got %v", err)
	}
}
