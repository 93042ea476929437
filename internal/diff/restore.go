package diff

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"codeloops/internal/diff/checkpoint"
	"codeloops/internal/diff/scan"
	"codeloops/internal/diff/shown"
	"codeloops/internal/diff/store"
	"codeloops/internal/loop"
)

// restorePasses bounds how often Restore looks again: ignore rules that were
// put back may uncover files that the rules before them hid.
const restorePasses = 4

// Restore puts the files in scope back to the state that an earlier Capture
// returned. What it takes away is kept first as a commit below
// refs/codeloops/undone, which the returned words name, and so does the error;
// they are "" when there was nothing to do.
//
// Ignored files are left alone, and so are HEAD, the index, and those of the
// repositories inside this one, which the words name if they are at another commit: a
// path that cannot be put back without touching them, or through a symlink, is an
// error, which names the first ones, after all others have been put back. So is a file
// above [store.Large] that is in no object.
// Contents that git converts come out as git checks them out, also where it
// converts them otherwise than at that time, and would not get the same from them.
func (t *Tree) Restore(ctx context.Context, c loop.Change) (kept string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	target, known := t.states[c.State]
	if !known {
		return "", fmt.Errorf("restore %s: %w", t.Root(), ErrUnknownState)
	}
	done, err := t.restore(ctx, target)
	kept = done.words()
	if err != nil && kept != "" {
		err = fmt.Errorf("%w\nwhat was there is %s", err, kept)
	}
	if err != nil {
		return kept, fmt.Errorf("restore %s: %w", t.Root(), err)
	}
	return kept, nil
}

func (t *Tree) restore(ctx context.Context, target *scan.Dir) (done restored, err error) {
	var changes []scan.Change
	for pass := range restorePasses {
		state, err := t.scan(ctx, target)
		if err != nil {
			return done, err
		}
		changes, done.moved = t.toUndo(scan.Compare(state.Root, target))
		if pass > 0 { // before, all of them are written: that is as fast as to compare
			if changes, err = t.unlike(ctx, target, changes); err != nil {
				return done, err
			}
		}
		if len(changes) == 0 {
			return done, t.holdOnTo(ctx, target)
		}
		ref, err := t.keep(ctx, state.Root, changes)
		if err != nil {
			return done, err
		}
		done.refs = append(done.refs, ref)
		if err := t.apply(ctx, target, changes); err != nil {
			return done, err
		}
	}
	return done, &unsettledError{changes}
}

// holdOnTo keeps the files of a state in scope for later captures if they would
// not be of themselves: an ignore file that is ignored itself, and so left
// alone, may hide them now, or they are no longer tracked.
func (t *Tree) holdOnTo(ctx context.Context, target *scan.Dir) error {
	state, err := t.scan(ctx, t.also)
	if err != nil {
		return err
	}
	if state.Root.ID() != target.ID() {
		t.also = target
	}
	return nil
}

// toUndo leaves out what is in scope only because somebody has told git, since
// the session began, to track it although it is ignored: it may have been there
// before. Of what decides over the scope it is known whether it was. It returns apart
// the repositories that are at another commit.
func (t *Tree) toUndo(changes []scan.Change) (left []scan.Change, moved []string) {
	return slices.DeleteFunc(changes, func(c scan.Change) bool {
		if t.staysAt(c) {
			moved = append(moved, shown.Name(c.Path))
			return true
		}
		return c.After == nil && t.base.Find(c.Path) == nil && t.trackedThen.Find(c.Path) == nil && t.ignores(c.Path) && !scan.Decides(c.Path)
	}), moved
}

// unlike leaves out the changes that would change nothing.
func (t *Tree) unlike(ctx context.Context, target *scan.Dir, changes []scan.Change) ([]scan.Change, error) {
	u, err := t.undo(target)
	if err != nil {
		return nil, err
	}
	defer u.root.Close() //nolint:errcheck // nothing was written through it
	var left []scan.Change
	for _, c := range changes {
		there, err := u.isBack(ctx, c)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Path, err)
		}
		if !there {
			left = append(left, c)
		}
	}
	return left, nil
}

// isBack reports whether a file that a look finds changed is what putBack makes of
// it all the same: git converts it, or is told not to see modes or symlinks, and
// so would not get the target from it either.
func (u *undo) isBack(ctx context.Context, c scan.Change) (bool, error) {
	switch {
	case c.Before == nil, c.After == nil, c.Before.Mode == scan.Gitlink, c.After.Mode == scan.Gitlink,
		u.symlinks && c.After.Mode == scan.Symlink,
		u.fileMode && (c.Before.Mode == scan.Executable) != (c.After.Mode == scan.Executable):
		return false, nil
	}
	if info, err := u.root.Lstat(c.Path); err != nil || !info.Mode().IsRegular() {
		return false, nil // it is gone
	}
	want, err := u.content(ctx, c.Path, c.After)
	if err != nil {
		return false, err
	}
	defer want.Close() //nolint:errcheck // opened for reading: nothing to lose
	have, err := u.root.Open(c.Path)
	if err != nil {
		return false, err
	}
	defer have.Close() //nolint:errcheck // likewise
	return sameContent(store.Until(ctx, have), want)
}

func sameContent(a, b io.Reader) (bool, error) {
	x, y := sha256.New(), sha256.New()
	_, errX := io.Copy(x, a)
	_, errY := io.Copy(y, b)
	return bytes.Equal(x.Sum(nil), y.Sum(nil)), errors.Join(errX, errY)
}

var errUnsettled = errors.New("files keep changing")

// An unsettledError names files that were others again as soon as they had been
// put back.
type unsettledError struct{ changes []scan.Change }

func (e *unsettledError) Error() string {
	const most = 5
	var names []string
	for _, c := range e.changes[:min(most, len(e.changes))] {
		names = append(names, shown.Name(c.Path))
	}
	if more := len(e.changes) - most; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return fmt.Sprintf("%v, although they were put back %d times: %s", errUnsettled, restorePasses, strings.Join(names, ", "))
}

func (e *unsettledError) Hint() string {
	return "stop what writes to them (or the git filter that makes something else of them each time), and try again"
}

// A restored is what Restore has done.
type restored struct {
	refs  []string // of what it has taken away
	moved []string // the repositories inside that are at another commit, and stay there
}

func (r restored) words() string {
	var words []string
	if len(r.refs) > 0 {
		words = append(words, "kept as "+strings.Join(r.refs, ", "))
	}
	if len(r.moved) > 0 {
		words = append(words, "the commits of repositories inside stay as they are: "+strings.Join(r.moved, ", "))
	}
	return strings.Join(words, "; ")
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
