package diff

import (
	"context"
	"fmt"
	"maps"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/checkpoint"
	"codeloops/internal/diff/scan"
	"codeloops/internal/loop"
)

// BaseState returns the [loop.Change.State] of the baseline, "" before there is
// one.
func (t *Tree) BaseState() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.base == nil {
		return ""
	}
	return t.base.ID().String()
}

// KeepIn names the directory of the private repository that checkpoints, and contents
// until then, are kept in. Without one they are gone when the tree is closed. It is to
// be named before the baseline is taken.
func (t *Tree) KeepIn(dir string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.store.KeepIn(dir)
}

// Checkpoint keeps a state that the baseline or a capture found as a commit in the
// private repository, and returns its id. The commit's tree is the one that `git
// write-tree` would write. The reference is refs/codeloops/<name>, as in
// "<session>/<number>", with one more number where there is one of that name. All that
// it reaches is there, and on the disk; it stands alone, so that others can be removed.
// Nothing is written into the user's repository.
//
// A file above [store.Large] that is in no object yet is not copied: the commit
// says what it was, which is enough for Resume, and its tree lacks it. The commit also
// says which permissions the files have, and has, by a parent, the bytes of
// those that git converts.
//
// The first one of the baseline stands for the session, by its id: the message
// should be none that another session has.
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
		keepMarked(c.Setup, t.began.ignored, ignoredMark)
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

// Resume takes the state of a checkpoint as the baseline, instead of the work tree's
// own: the work tree is then compared with what it was when that session began.
func (t *Tree) Resume(ctx context.Context, commit string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	id := plumbing.NewHash(commit)
	var kept checkpoint.Kept
	var err error
	var beside sync.WaitGroup
	beside.Go(func() { kept, err = checkpoint.Read(ctx, t.store, id) })
	like := t.known(ctx)
	if beside.Wait(); err != nil {
		return err
	}
	base, err := kept.State(ctx, t.store, like)
	if err != nil {
		return err
	}
	then := setup(kept.Setup)
	t.overridesThen = takeMarked(then, overrideMark)
	if then == nil { // it is not known how git was set up when the session began
		r, err := t.reopen()
		if err != nil {
			return err
		}
		then = t.setupOf(r)
	}
	if t.began, err = t.resumes(then, kept.At); err != nil {
		return err
	}
	t.begin(base)
	t.since = t.options.Now()
	t.nests = nests{at: &t.place}
	t.nests.begin(keptNests(kept))
	t.last, t.session, t.setupThen = nil, id.String(), then
	return nil
}

// begin forgets all states but the new baseline.
func (t *Tree) begin(base *scan.Dir) {
	t.base, t.found, t.trackedThen = base, nil, nil
	t.states = nil
	t.name(base)
}

// Recall loads the state of a checkpoint, of this session or another, for [Tree.Way],
// and returns the [loop.Change.State] that names it.
func (t *Tree) Recall(ctx context.Context, commit string) (state string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	kept, root, err := t.recall(ctx, commit)
	if err != nil {
		return "", err
	}
	state = t.name(root)
	if t.said == nil {
		t.said = make(map[string]checkpoint.Kept)
	}
	t.said[state] = kept
	return state, nil
}

func (w *watcher) recall(ctx context.Context, commit string) (kept checkpoint.Kept, state *scan.Dir, err error) {
	if kept, err = checkpoint.Read(ctx, w.store, plumbing.NewHash(commit)); err == nil {
		state, err = kept.State(ctx, w.store, w.known(ctx))
	}
	return kept, state, err
}

// known returns a state that is at hand, of which another one may have much;
// nil if there is none.
func (w *watcher) known(ctx context.Context) *scan.Dir {
	if w.last != nil {
		return w.last
	}
	if w.readIndex(ctx) != nil {
		return nil // whoever needs the index will see
	}
	return w.tracked.root
}

// Between returns what differs between two states of this session, as Capture
// returned them; the second one must be of this process, the first may be of an
// earlier one if it has a checkpoint. The zero [loop.Change] is the baseline.
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
		files, err = render(ctx, t.store, scan.Compare(before, after))
	}
	if err != nil {
		return loop.Change{}, fmt.Errorf("compare two states of %s: %w", t.Root(), err)
	}
	return total(loop.Change{Files: files, State: to.State, Checkpoint: to.Checkpoint}), nil
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
