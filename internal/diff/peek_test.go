package diff_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"codeloops/internal/diff"
	"codeloops/internal/loop"
)

// A witness is a tree with its own private repository.
type witness struct {
	*diff.Tree
	own string
}

// witness opens another tree on the work tree and takes its baseline.
func (s *sandbox) witness(name string) *witness {
	s.t.Helper()
	w := &witness{own: s.own + "-" + name}
	o := s.options()
	var err error
	w.Tree, err = diff.Open(s.t.Context(), s.root, o)
	s.must(err)
	s.trees = append(s.trees, w.Tree)
	s.must(w.KeepIn(w.own))
	s.must(w.Baseline(s.t.Context()))
	return w
}

// states returns the trees of its checkpoints.
func (w *witness) states(s *sandbox) string {
	s.t.Helper()
	return s.gitIn(s.base, "--git-dir="+w.own, "for-each-ref", "--format=%(refname) %(tree)")
}

// TestPeekLeavesNoTrace: peeking at a tree, between or during captures, changes none of
// its captures, checkpoints and notes, and a peek at rest agrees with a capture.
func TestPeekLeavesNoTrace(t *testing.T) {
	t.Parallel()
	for seed := range randomCount(100) {
		t.Run(strconv.Itoa(seed), func(t *testing.T) {
			t.Parallel()
			h := newHistory(t, uint64(seed)+1<<24)
			seen, alone := h.witness("seen"), h.witness("alone")
			for n := range 4 {
				ctx, end := context.WithCancel(t.Context())
				var peeks sync.WaitGroup
				peeks.Go(func() {
					for was := (diff.Glance{}); ctx.Err() == nil; {
						if now, err := seen.Peek(ctx, diff.Captured, was); err == nil {
							was = now
						}
					}
				})
				h.steps(h.rand.IntN(6))
				got, err := seen.Capture(t.Context())
				h.must(err)
				end()
				peeks.Wait()
				want, err := alone.Capture(t.Context())
				h.must(err)
				if !reflect.DeepEqual(got, want) {
					t.Fatalf("with peeks %+v\nwithout %+v", got, want)
				}
				h.compare(seen, got)
				for _, w := range []*witness{seen, alone} {
					_, err := w.Checkpoint(t.Context(), got.State, fmt.Sprintf("test/%d", n), "")
					h.must(err)
				}
			}
			if got, want := seen.states(h.sandbox), alone.states(h.sandbox); got != want {
				t.Errorf("kept with peeks:\n%s\nwithout:\n%s", got, want)
			}
		})
	}
}

// compare checks that a peek agrees with the last capture and writes nothing.
func (h *history) compare(tree *witness, now loop.Change) {
	h.t.Helper()
	before := listing(h.t, h.base)
	h.must(os.MkdirAll(tree.own, 0o700))
	own := listing(h.t, tree.own)
	whole, err := tree.Peek(h.t.Context(), diff.Began, diff.Glance{})
	h.must(err)
	if whole.State != now.State || whole.Patch() != now.Patch() || whole.Insertions != now.Insertions || whole.Deletions != now.Deletions {
		h.t.Errorf("a peek has %+v, a capture %+v", whole.Change, now)
	}
	if none, err := tree.Peek(h.t.Context(), diff.Captured, diff.Glance{}); err != nil || len(none.Files) > 0 {
		h.t.Errorf("since the capture: %+v, %v", none.Change, err)
	}
	if !reflect.DeepEqual(before, listing(h.t, h.base)) || !reflect.DeepEqual(own, listing(h.t, tree.own)) {
		h.t.Error("a peek has written something")
	}
}

// TestPeekSince: during a turn, a peek shows the changes since the last capture, with
// git's line counts, and since the baseline; large and binary files are marked as such.
func TestPeekSince(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.write("a", strings.Repeat("a\n", 20))
	s.write("b", "b\n")
	s.commit("first")
	w := s.witness("one")
	if _, err := s.open().Peek(t.Context(), diff.Began, diff.Glance{}); !errors.Is(err, diff.ErrNoBaseline) {
		t.Errorf("without a baseline: %v", err)
	}
	s.write("b", "b\nfirst turn\n")
	_, err := w.Capture(t.Context())
	s.must(err)
	s.git("add", "-A")
	s.write("a", strings.Repeat("a\n", 7)+"new\nnew\n"+strings.Repeat("a\n", 9))
	s.write("bin", "\x00\x01")
	s.write("c", "c\n")
	s.must(os.Truncate(s.path("bin"), 100))
	s.write("large", "")
	s.must(os.Truncate(s.path("large"), 21<<20))
	s.git("add", "-N", "bin", "c", "large")
	before := listing(t, w.own)
	now, err := w.Peek(t.Context(), diff.Captured, diff.Glance{})
	s.must(err)
	var told bytes.Buffer
	for _, f := range now.Files {
		if f.Binary {
			fmt.Fprintf(&told, "-\t-\t%s\n", f.Path)
			continue
		}
		fmt.Fprintf(&told, "%d\t%d\t%s\n", f.Insertions, f.Deletions, f.Path)
	}
	if want := s.git("diff", "--numstat"); strings.TrimSpace(told.String()) != want {
		t.Errorf("got\n%swant, from git\n%s", &told, want)
	}
	whole, err := w.Peek(t.Context(), diff.Began, diff.Glance{})
	s.must(err)
	if len(whole.Files) != len(now.Files)+1 || !strings.Contains(whole.Patch(), "+first turn") {
		t.Errorf("since the beginning: %s", whole.Patch())
	}
	if again, err := w.Peek(t.Context(), diff.Captured, now); err != nil || !reflect.DeepEqual(again, now) {
		t.Errorf("again: %+v, %v", again, err)
	}
	if after := listing(t, w.own); !reflect.DeepEqual(before, after) {
		t.Errorf("the private repository was %q, and is now %q", before, after)
	}
}

// TestPeekTorn: a peek shows the whole file even if an earlier peek saw it half written
// and it was given its old times afterwards.
func TestPeekTorn(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.write("a", "a\n")
	s.commit("first")
	settle()
	w := s.witness("one")
	for n, text := range []string{"half of i", "the rest\n"} {
		s.write("new", text)
		at := time.Now().Add(-time.Hour)
		s.must(os.Chtimes(s.path("new"), at, at))
		now, err := w.Peek(t.Context(), diff.Captured, diff.Glance{})
		s.must(err)
		if !strings.Contains(now.Patch(), "+"+strings.TrimSpace(text)) {
			t.Errorf("look %d shows %s", n, now.Patch())
		}
	}
}
