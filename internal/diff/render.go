package diff

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/patch"
	"codeloops/internal/diff/scan"
	"codeloops/internal/diff/store"
	"codeloops/internal/loop"
	"codeloops/internal/wording"
)

// render returns the patches of changes, in the same order. They do not have the content of withheld files.
func render(ctx context.Context, objects *store.Store, changes []scan.Difference, withheld map[string]bool) ([]loop.FileChange, error) {
	fetch(ctx, objects, changes)
	var errs []error
	var pairs []patch.Pair
	for _, c := range changes {
		if ctx.Err() != nil {
			break
		}
		pair, err := pairOf(ctx, objects, c)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if after := pair.After; withheld[c.Path] {
			pair.After = patch.Side{Mode: after.Mode, ID: after.ID, Size: int64(len(after.Content)), TooLarge: true}
		}
		pairs = append(pairs, pair)
	}
	if err := cmp.Or(ctx.Err(), several(errs)); err != nil {
		return nil, err
	}
	files, err := patch.Files(ctx, objects.Room(), pairs...)
	for i := range files {
		if f := &files[i]; withheld[f.Path] {
			f.Patch = strings.Replace(f.Patch, "# too large to compare:", "# withheld:", 1)
		}
	}
	return files, err
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

func pairOf(ctx context.Context, objects *store.Store, c scan.Difference) (pair patch.Pair, err error) {
	pair.Path = c.Path
	if pair.Before, err = sideOf(ctx, objects, c.Before); err != nil {
		return pair, fmt.Errorf("read the old side of %s: %w", wording.Name(c.Path), err)
	}
	if pair.After, err = sideOf(ctx, objects, c.After); err != nil {
		return pair, fmt.Errorf("read the new side of %s: %w", wording.Name(c.Path), err)
	}
	return pair, nil
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

// several joins the first errors, and counts the rest.
func several(errs []error) (joined error) {
	const most = 3
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
