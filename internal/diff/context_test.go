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

	"codeloops/internal/diff"
)

// A brief context ends after a number of calls to Err.
type brief struct {
	context.Context //nolint:containedctx // it wraps one
	looks           int64
	past            atomic.Int64
}

func (b *brief) Err() error {
	if b.past.Add(1) > b.looks {
		return context.Canceled
	}
	return nil
}

// endsAnywhere runs an operation that reads the given number of megabytes. It runs it
// twice to count how often it checks its context, which must be at least once per
// megabyte, and then with contexts that end midway. The number of checks varies, because
// a file that was written within the same clock tick is read once more. So an operation
// may finish before its context ends, but only in the second half of the cases.
func endsAnywhere(t *testing.T, megabytes int64, do func(context.Context) error) {
	t.Helper()
	var looks int64
	for range 2 { // the first run may have more to write
		whole := &brief{Context: t.Context(), looks: math.MaxInt64}
		if err := do(whole); err != nil {
			t.Fatal(err)
		}
		looks = whole.past.Load()
	}
	if looks < megabytes {
		t.Errorf("%d checks of the context in %d MB", looks, megabytes)
	}
	parts := int64(10)
	if testing.Short() {
		parts = 3
	}
	for i := range parts {
		short := &brief{Context: t.Context(), looks: looks * i / parts}
		err := do(short)
		if over := short.past.Load() > short.looks; !over && (err != nil || i < parts/2) {
			t.Errorf("%d checks of %d allowed, %d in a whole run: %v", short.past.Load(), short.looks, looks, err)
		} else if over && !errors.Is(err, context.Canceled) {
			t.Errorf("ended after %d checks of %d: %v", short.looks, looks, err)
		}
	}
}

// TestCaptureEnds: a capture ends with its context, even in the middle of a file, and the
// error is not reported as an unreadable file.
func TestCaptureEnds(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.write("d/large", "")
	s.must(os.Truncate(s.path("d/large"), 2*diff.Large))
	tree := s.begin()
	size := int64(2 * diff.Large)
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

// TestRestoreEnds: a restore, and keeping the old files, ends with its context and leaves
// nothing behind.
func TestRestoreEnds(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.write("large", strings.Repeat("0123456789abcdef", 21<<16))
	s.commit("first")
	tree := s.begin()
	start, err := tree.Capture(t.Context())
	s.must(err)
	size := int64(2 * diff.Large)
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
