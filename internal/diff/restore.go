package diff

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"codeloops/internal/diff/checkpoint"
	"codeloops/internal/diff/scan"
	"codeloops/internal/loop"
)

// restorePasses bounds how often Restore looks again: ignore rules that were
// put back may uncover files that the rules before them hid.
const restorePasses = 4

// Restore puts the files in scope back to the state that an earlier Capture
// returned. What it takes away is kept first as a commit below
// refs/codeloops/undone, which the returned words name; they are "" when
// there was nothing to do.
//
// Ignored files are left alone, and so are HEAD, the index, and repositories
// inside this one: a path that cannot be put back without touching them, or
// through a symlink, is an error that names it, after all others have been put
// back. So is a file above [store.Large] that is in no object.
// Contents that git converts come out as git checks them out.
func (t *Tree) Restore(ctx context.Context, c loop.Change) (kept string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	target, known := t.states[c.State]
	if !known {
		return "", fmt.Errorf("restore %s: %w", t.Root(), ErrUnknownState)
	}
	var refs []string
	for range restorePasses {
		state, err := t.scan(ctx, how{also: target})
		if err != nil {
			return words(refs), fmt.Errorf("restore %s: %w", t.Root(), err)
		}
		changes := t.toUndo(scan.Compare(state.Root, target))
		if len(changes) == 0 {
			return words(refs), t.holdOnTo(ctx, target)
		}
		ref, err := t.keep(ctx, state.Root, changes)
		if err != nil {
			return words(refs), fmt.Errorf("restore %s: %w", t.Root(), err)
		}
		refs = append(refs, ref)
		if err := t.apply(ctx, target, changes); err != nil {
			return words(refs), fmt.Errorf("restore %s: %w", t.Root(), err)
		}
	}
	return words(refs), fmt.Errorf("restore %s: %w", t.Root(), errUnsettled)
}

// holdOnTo keeps the files of a state in scope for later captures if they would
// not be of themselves: an ignore file that is ignored itself, and so left
// alone, may hide them now, or they are no longer tracked.
func (t *Tree) holdOnTo(ctx context.Context, target *scan.Dir) error {
	state, err := t.scan(ctx, how{also: t.also})
	if err != nil {
		return fmt.Errorf("restore %s: %w", t.Root(), err)
	}
	if state.Root.ID() != target.ID() {
		t.also = target
	}
	return nil
}

// toUndo leaves out what is in scope only because somebody has told git, since
// the session began, to track it although it is ignored: it may have been there
// before.
func (t *Tree) toUndo(changes []scan.Change) []scan.Change {
	return slices.DeleteFunc(changes, func(c scan.Change) bool {
		return c.After == nil && t.base.Find(c.Path) == nil && t.trackedThen.Find(c.Path) == nil && t.rules.ignores(c.Path)
	})
}

var errUnsettled = errors.New("files keep changing")

func words(refs []string) string {
	if len(refs) == 0 {
		return ""
	}
	return "kept as " + strings.Join(refs, ", ")
}

// keep makes a commit of a state before changes are made to it, and returns the
// name of its reference.
func (t *Tree) keep(ctx context.Context, root *scan.Dir, changes []scan.Change) (string, error) {
	name := "undone/" + stateOf(root)[:12]
	whole := make(map[string]bool)
	for _, c := range changes {
		whole[c.Path] = true
	}
	_, err := t.commit(ctx, checkpoint.Checkpoint{
		Ref: name, State: root, Message: "Work tree before it was put back", Whole: whole,
	})
	return checkpoint.Namespace + name, err
}
