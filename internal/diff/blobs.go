package diff

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
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
func (t *Tree) Changed(ctx context.Context, from, to string) ([]BlobChange, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	before, after := t.states[from], t.states[to]
	if before == nil || after == nil || t.basis.state == nil {
		return nil, ErrUnknownState
	}
	differ, err := t.objects.compare(ctx, before, after)
	all := make([]BlobChange, len(differ))
	for i, d := range differ {
		now, nowErr := t.objects.entry(t.basis.state, d.path)
		err = errors.Join(err, nowErr)
		all[i] = BlobChange{Path: d.path, Before: blob(d.before), After: blob(d.after), Now: blob(now)}
	}
	return all, err
}

func blob(e *entry) Blob {
	if e == nil {
		return Blob{}
	}
	return Blob{e.Mode, e.ID.String()}
}

// Content returns the content of a blob of the private or the user's repository; nil if it is too large to be looked into.
func (t *Tree) Content(ctx context.Context, id string) ([]byte, error) {
	content, err := t.Blob(ctx, id)
	if errors.Is(err, errLarge) {
		return nil, nil
	}
	return content, err
}

// Pack returns a pack with the blobs of some ids, and the ids that no repository has.
func (t *Tree) Pack(ctx context.Context, ids []string) (pack []byte, missing []string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var list strings.Builder
	for _, id := range ids {
		if t.objects.holds(plumbing.NewHash(id)) {
			list.WriteString(id + "\n")
		} else {
			missing = append(missing, id)
		}
	}
	if list.Len() == 0 {
		return nil, missing, nil
	}
	pack, err = (&view{shadow: t.shadow}).run(ctx, nil, []byte(list.String()), "pack-objects", "--quiet", "--stdout")
	if err != nil {
		err = fmt.Errorf("read kept files: %w", err)
	}
	return pack, missing, err
}
