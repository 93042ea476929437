package diff

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/restore"
	"codeloops/internal/diff/scan"
	"codeloops/internal/diff/store"
)

// An Edit changes a path. Mode 0 removes the file. The content of a symlink is its target.
type Edit struct {
	Path    string // slash-separated, relative to the root
	Mode    uint32
	Content []byte
}

var errInTheWay = errors.New("something that is out of scope is in the way")

// Edited applies edits to the baseline and returns the [loop.Change.State] of the result, for
// [Tree.PlanRestore]. It writes only objects. It is an error if an edit adds a file where there is an
// ignored one, which is in no state.
func (t *Tree) Edited(ctx context.Context, edits []Edit) (state string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.base == nil {
		return "", ErrNoBaseline
	}
	root, err := os.OpenRoot(t.Root())
	if err != nil {
		return "", err
	}
	defer root.Close() //nolint:errcheck // only read
	edited := t.base
	var problems []error
	comes := func(e Edit) int { return min(int(e.Mode), 1) } // removals first, to make room
	for _, e := range slices.SortedStableFunc(slices.Values(edits), func(a, b Edit) int { return comes(a) - comes(b) }) {
		next, err := t.edit(root, edited, e)
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", e.Path, err))
			continue
		}
		edited = next
	}
	if err := errors.Join(append(problems, ctx.Err())...); err != nil {
		return "", err
	}
	edited.Seal()
	return t.name(edited), nil
}

// edit applies one edit to a state.
func (w *watcher) edit(root *os.Root, d *scan.Dir, e Edit) (*scan.Dir, error) {
	if !restore.Proper(e.Path) {
		return nil, restore.ErrPath
	}
	if e.Mode == 0 {
		return d.Without(e.Path), nil
	}
	if w.base.Find(e.Path) == nil && w.base.Dir(e.Path) == nil {
		if _, err := root.Lstat(e.Path); err == nil {
			return nil, errInTheWay
		}
	}
	id := store.Sum(plumbing.BlobObject, e.Content)
	placed, ok := scan.Place(e.Path, e.Mode, id, int64(len(e.Content)))
	if !ok || e.Mode == scan.Gitlink {
		return nil, restore.ErrPath
	}
	if err := w.store.Keep(id, e.Content); err != nil {
		return nil, err
	}
	next, ok := d.Put(placed)
	if !ok {
		return nil, errInTheWay
	}
	return next, nil
}

// File returns the mode and id of a file of the baseline; mode 0 means that there is none.
func (t *Tree) File(name string) (mode uint32, id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if f := t.base.Find(name); f != nil {
		return f.Mode, f.ID.String()
	}
	return 0, ""
}
