package diff

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/patch"
	"codeloops/internal/diff/scan"
	"codeloops/internal/diff/store"
	"codeloops/internal/loop"
	"codeloops/internal/wording"
)

// render returns the patches of changes, in the same order.
func render(ctx context.Context, objects *store.Store, changes []scan.Difference) ([]loop.FileChange, error) {
	fetch(ctx, objects, changes)
	texts := make([][]loop.FileChange, len(changes))
	errs := make([]error, len(changes))
	each(len(changes), func(i int) {
		if ctx.Err() == nil {
			before, after, err := sidesOf(ctx, objects, changes[i])
			if errs[i] = err; err == nil {
				texts[i] = patch.File(changes[i].Path, before, after)
			}
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := several(errs); err != nil {
		return nil, err
	}
	return slices.Concat(texts...), nil
}

// fetch makes the store read in one go what the patches will need. Errors show up again when a
// content is needed.
func fetch(ctx context.Context, objects *store.Store, changes []scan.Difference) {
	var ids []plumbing.Hash
	for _, c := range changes {
		for _, f := range []*scan.File{c.Before, c.After} {
			if f != nil && f.Mode != scan.Gitlink && f.Size() <= store.Large {
				ids = append(ids, f.ID)
			}
		}
	}
	_ = objects.Fetch(ctx, ids)
}

// each calls do for 0 to n-1, in parallel.
func each(n int, do func(i int)) {
	var (
		next    atomic.Int64
		workers sync.WaitGroup
	)
	work := func() {
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			do(i)
		}
	}
	for range min(n, runtime.GOMAXPROCS(0)) - 1 {
		workers.Go(work)
	}
	work()
	workers.Wait()
}

func sidesOf(ctx context.Context, objects *store.Store, c scan.Difference) (before, after patch.Side, err error) {
	if before, err = sideOf(ctx, objects, c.Before); err != nil {
		return before, after, fmt.Errorf("read the old side of %s: %w", wording.Name(c.Path), err)
	}
	if after, err = sideOf(ctx, objects, c.After); err != nil {
		return before, after, fmt.Errorf("read the new side of %s: %w", wording.Name(c.Path), err)
	}
	return before, after, nil
}

func sideOf(ctx context.Context, objects *store.Store, f *scan.File) (side patch.Side, err error) {
	if f == nil {
		return side, nil
	}
	side = patch.Side{Mode: f.Mode, ID: f.ID}
	if f.Mode == scan.Gitlink {
		return side, nil
	}
	if f.Size() > store.Large && !objects.Has(ctx, f.ID) { // it was not kept
		side.TooLarge, side.Size = true, f.Size()
		return side, nil
	}
	if side.Content, err = objects.Blob(ctx, f.ID); errors.Is(err, store.ErrLarge) {
		side.TooLarge = true
		side.Size, err = objects.Size(ctx, f.ID)
	}
	return side, err
}

// several joins the first errors that are not nil, and counts the rest.
func several(errs []error) (joined error) {
	const most = 3
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	if more := len(errs) - most; more > 0 {
		errs = append(errs[:most], fmt.Errorf("and %d more", more))
	}
	for _, err := range errs {
		if joined == nil {
			joined = err
		} else {
			joined = fmt.Errorf("%w; %w", joined, err)
		}
	}
	return joined
}

// few returns the first warnings, and counts the rest: an agent can make any number of
// files that cannot be read.
func few(warnings []string) []string {
	const most = 20
	more := len(warnings) - most
	if more <= 1 {
		return warnings
	}
	return append(slices.Clip(warnings[:most]), fmt.Sprintf("and %d more like these", more))
}
