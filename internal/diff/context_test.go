package diff_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"codeloops/internal/diff/store"
)

// A brief context is over when it has been looked at so often.
type brief struct {
	context.Context //nolint:containedctx // it is one
	looks           int64
	past            atomic.Int64
}

func (b *brief) Err() error {
	if b.past.Add(1) > b.looks {
		return context.Canceled
	}
	return nil
}

// endsAnywhere does something that reads so many MB twice, to see how often it looks
// at its context, which must be for each of them, and then with contexts that are
// over on the way. How often it looks is not the same each time: a file that was
// written in the tick in which it is looked at is read once more. So a context may
// outlast what it was for, but only those of the last half.
func endsAnywhere(t *testing.T, megabytes int64, do func(context.Context) error) {
	t.Helper()
	var looks int64
	for range 2 { // the first time there may be more to write
		whole := &brief{Context: t.Context(), looks: math.MaxInt64}
		if err := do(whole); err != nil {
			t.Fatal(err)
		}
		looks = whole.past.Load()
	}
	if looks < megabytes {
		t.Errorf("%d looks in %d MB", looks, megabytes)
	}
	parts := int64(10)
	if testing.Short() {
		parts = 3
	}
	for i := range parts {
		short := &brief{Context: t.Context(), looks: looks * i / parts}
		err := do(short)
		if over := short.past.Load() > short.looks; !over && (err != nil || i < parts/2) {
			t.Errorf("%d of %d looks, of which there were %d: %v", short.past.Load(), short.looks, looks, err)
		} else if over && !errors.Is(err, context.Canceled) {
			t.Errorf("over after %d of %d looks: %v", short.looks, looks, err)
		}
	}
}

// TestCaptureEnds: the end of the context is that of a capture, in the midst of a
// file, too, and not taken for a file that cannot be read.
func TestCaptureEnds(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.write("d/large", "")
	s.must(os.Truncate(s.path("d/large"), 2*store.Large))
	tree := s.begin()
	size := int64(2 * store.Large)
	endsAnywhere(t, size>>20, func(ctx context.Context) error {
		size++
		s.must(os.Truncate(s.path("d/large"), size))
		return second(tree.Capture(ctx))
	})
	c, err := tree.Capture(t.Context())
	s.must(err)
	if got := summary(c); got != "M d/large\n" || c.Warnings != nil {
		t.Errorf("captured %q, warnings %q", got, c.Warnings)
	}
}

// TestRestoreEnds: the end of the context is that of putting a file back, and of
// keeping what was there. No part of either stays.
func TestRestoreEnds(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.write("large", strings.Repeat("0123456789abcdef", 21<<16))
	s.commit("first")
	tree := s.begin()
	start, err := tree.Capture(t.Context())
	s.must(err)
	size := int64(2 * store.Large)
	endsAnywhere(t, size>>20, func(ctx context.Context) error {
		size++
		s.must(os.Truncate(s.path("large"), size))
		return second(s.restores(ctx, tree, start))
	})
	for _, pattern := range []string{".codeloops-*", ".git/objects/tmp_*"} {
		if left, _ := filepath.Glob(s.path(pattern)); left != nil {
			t.Errorf("left behind: %q", left)
		}
	}
	s.restore(tree, start)
}
