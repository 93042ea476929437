package diff

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/scan"
	"codeloops/internal/diff/store"
)

// A Blob is what git's index says of a file: its mode, and the id of its content. The zero Blob is no file.
type Blob struct {
	Mode uint32
	ID   string
}

// A BlobChange is a path in two or three states of a work tree.
type BlobChange struct {
	Path               string
	Before, After, Now Blob
}

// Changed returns the paths that differ between two states that [Tree.Recall] returned, with what the last Baseline
// found there.
func (t *Tree) Changed(from, to string) ([]BlobChange, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	before, after := t.states[from], t.states[to]
	if before == nil || after == nil || t.base == nil {
		return nil, ErrUnknownState
	}
	differ := scan.Compare(before, after)
	all := make([]BlobChange, len(differ))
	for i, d := range differ {
		all[i] = BlobChange{Path: d.Path, Before: blob(d.Before), After: blob(d.After), Now: blob(t.base.Find(d.Path))}
	}
	return all, nil
}

func blob(f *scan.File) Blob {
	if f == nil {
		return Blob{}
	}
	return Blob{f.Mode, f.ID.String()}
}

// Content returns the content of a blob of the private or the user's repository; nil if it is too large to be looked into.
func (t *Tree) Content(ctx context.Context, id string) ([]byte, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	content, err := t.store.Blob(ctx, plumbing.NewHash(id))
	if errors.Is(err, store.ErrLarge) {
		return nil, nil
	}
	return content, err
}

// Pack returns a pack with the blobs of some ids, and the ids that no repository has.
func (t *Tree) Pack(ctx context.Context, ids []string) (pack []byte, missing []string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var list []byte
	for _, id := range ids {
		hash := plumbing.NewHash(id)
		if err := t.store.Persist(hash); err != nil {
			return nil, nil, err
		}
		if t.store.Has(ctx, hash) {
			list = append(list, id+"\n"...)
		} else {
			missing = append(missing, id)
		}
	}
	if list == nil {
		return nil, missing, nil
	}
	pack, err = t.runGit(ctx, "to read kept files", list, nil, "pack-objects", "--quiet", "--stdout")
	if err != nil {
		err = fmt.Errorf("read kept files: %w", err)
	}
	return pack, missing, err
}
