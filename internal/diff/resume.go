package diff

import (
	"context"
	"fmt"
	"maps"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/checkpoint"
	"codeloops/internal/diff/scan"
	"codeloops/internal/loop"
)

// BaseState returns the [loop.Change.State] of the baseline, or "" before there is one.
func (t *Tree) BaseState() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.base == nil {
		return ""
	}
	return t.base.ID().String()
}

// KeepIn sets the directory of the private repository, which keeps checkpoints and, until then,
// contents. Without it they are lost when the tree is closed. Call it before Baseline.
func (t *Tree) KeepIn(dir string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.store.KeepIn(dir)
}

// Checkpoint keeps a state that the baseline or a capture found as a commit in the private
// repository, and returns its id. The commit's tree is the one that `git write-tree` would write.
// The reference is refs/codeloops/<name>, as in "<session>/<number>", with another number
// appended if it is taken. When Checkpoint returns, everything that the commit reaches is on the
// disk. It does not depend on other checkpoints, so those can be removed. Nothing is written
// into the user's repository.
//
// A file above [store.Large] that is not in an object yet is left out of the tree. The message
// describes it, which is enough for Resume. The message also has the permissions of the files,
// and a parent commit has the bytes of those that git converts.
//
// The id of the first checkpoint of the baseline identifies the session, so no other session
// should have the same message.
func (t *Tree) Checkpoint(ctx context.Context, state, name, message string) (commit string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	root, known := t.states[state]
	if !known {
		return "", fmt.Errorf("checkpoint %s: %w", name, ErrUnknownState)
	}
	c := checkpoint.Checkpoint{Ref: name, State: root, Message: message}
	if c.Disk, err = t.disk.look(ctx, &t.watcher, root); err != nil {
		return "", fmt.Errorf("checkpoint %s: %w", name, err)
	}
	begins := t.session == "" && t.base != nil && root.ID() == t.base.ID()
	if begins {
		c.Setup = maps.Clone(t.setupThen)
		keepMarked(c.Setup, t.ignoredThen, ignoredMark)
		keepMarked(c.Setup, t.overridesThen, overrideMark)
	}
	id, err := t.commit(ctx, &t.watcher, c)
	if err != nil {
		return "", err
	}
	if begins {
		t.session = id.String()
	}
	return id.String(), nil
}

func (m *memory) commit(ctx context.Context, w *watcher, c checkpoint.Checkpoint) (plumbing.Hash, error) {
	head, err := w.repo.Head()
	if err != nil {
		return plumbing.ZeroHash, fmt.Errorf("checkpoint %s: %w", c.Ref, err)
	}
	c.Head, c.Branch = head.Commit, head.Branch
	if w.tracked.root != nil && !w.tracked.partial {
		c.Index = w.tracked.root.ID()
	}
	if m.kept == nil {
		m.kept = checkpoint.Last(ctx, w.store, c.State)
	}
	if m.kept == nil && !c.Index.IsZero() && w.store.Adopt(ctx, c.Index) == nil { // that is faster than file by file
		m.kept = w.tracked.root
	}
	c.Kept = m.kept
	id, root, err := checkpoint.Write(ctx, w.store, w.options.Now(), c)
	if err == nil {
		m.kept = root
	}
	return id, err
}

// Resume makes the state of a checkpoint the baseline, so that the work tree is compared with
// what it was when that session began.
func (t *Tree) Resume(ctx context.Context, commit string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	kept, base, err := t.recall(ctx, commit)
	if err != nil {
		return err
	}
	was, err := t.startOf(kept)
	if err != nil {
		return err
	}
	if was.overridesThen[skipped] != "" {
		was.cutThen = t.committed(ctx, kept.Head)
	}
	was.head, was.base, was.session, was.since = t.head, base, commit, t.options.Now()
	t.start, t.state, t.nests = was, scan.State{}, nests{at: &t.place, begun: keptNests(kept)}
	t.begin(base)
	return nil
}

// begin forgets all states but the baseline.
func (m *memory) begin(base *scan.Dir) {
	clear(m.states)
	m.name(base)
}

// Recall loads the state of a checkpoint, of this session or another, for [Tree.PlanRestore], and returns
// its [loop.Change.State].
func (t *Tree) Recall(ctx context.Context, commit string) (state string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	kept, root, err := t.recall(ctx, commit)
	if err != nil {
		return "", err
	}
	state = t.name(root)
	if kept.Setup == nil { // another checkpoint of the same state may have it
		kept.Setup = t.recalled[state].Setup
	}
	t.recalled[state] = kept
	return state, nil
}

func (w *watcher) recall(ctx context.Context, commit string) (kept checkpoint.Kept, state *scan.Dir, err error) {
	if kept, err = checkpoint.Read(ctx, w.store, plumbing.NewHash(commit)); err == nil {
		state, err = kept.State(ctx, w.store, w.known(ctx))
	}
	return kept, state, err
}

// known returns a state in memory that others may share directories with, or nil.
func (w *watcher) known(ctx context.Context) *scan.Dir {
	if w.state.Root != nil {
		return w.state.Root
	}
	if w.readIndex(ctx) != nil {
		return nil // the error shows up again when the index is needed
	}
	return w.tracked.root
}

// Between returns the difference between two states of this session, as returned by Capture. A
// state of an earlier process must have a checkpoint. The zero [loop.Change] is the baseline.
func (t *Tree) Between(ctx context.Context, from, to loop.Change) (loop.Change, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	before, err := t.stateAt(ctx, from)
	var after *scan.Dir
	if err == nil {
		after, err = t.stateAt(ctx, to)
	}
	var files []loop.FileChange
	if err == nil {
		files, err = render(ctx, t.store, scan.Compare(before, after), t.withheld)
	}
	if err != nil {
		return loop.Change{}, fmt.Errorf("compare two states of %s: %w", t.Root(), err)
	}
	return loop.Change{Files: files, State: to.State, Checkpoint: to.Checkpoint}.Counted(), nil
}

func (t *Tree) stateAt(ctx context.Context, c loop.Change) (*scan.Dir, error) {
	if c.State == "" && t.base != nil {
		return t.base, nil
	}
	if root, known := t.states[c.State]; known {
		return root, nil
	}
	if c.Checkpoint == "" {
		return nil, ErrUnknownState
	}
	_, root, err := t.recall(ctx, c.Checkpoint)
	if err == nil {
		t.name(root)
	}
	return root, err
}
