package diff

import (
	"context"
	"fmt"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/checkpoint"
	"codeloops/internal/diff/scan"
)

// BaseState returns the [loop.Change.State] of the baseline, "" before there is
// one.
func (t *Tree) BaseState() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.base == nil {
		return ""
	}
	return stateOf(t.base)
}

// Checkpoint keeps a state that the baseline or a capture found as a commit,
// and returns its id. The commit's tree is the one that `git write-tree` would
// write; its parents are the checkpoint before it and the commit that HEAD is
// at. The reference is refs/codeloops/<name>, as in "<session>/<number>"; HEAD,
// the branches, the index and the work tree stay as they are.
//
// A file above [store.Large] that is in no object yet is not copied: the commit
// says what it was, which is enough for Resume, and its tree lacks it.
//
// The first one of the baseline stands for the session, by its id: the message
// should be none that another session has.
func (t *Tree) Checkpoint(ctx context.Context, state, name, message string) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	root, known := t.states[state]
	if !known {
		return "", fmt.Errorf("checkpoint %s: %w", name, ErrUnknownState)
	}
	c := checkpoint.Checkpoint{Ref: name, State: root, Message: message}
	begins := t.session == "" && t.base != nil && root.ID() == t.base.ID()
	if begins {
		c.Setup = t.began.kept(t.setupThen)
		t.swaysThen.keep(c.Setup)
	}
	id, err := t.commit(ctx, c)
	if err != nil {
		return "", err
	}
	t.checkpoint = id
	if begins {
		t.session = id.String()
	}
	return id.String(), nil
}

// commit writes a checkpoint with its parents.
func (t *Tree) commit(ctx context.Context, c checkpoint.Checkpoint) (plumbing.Hash, error) {
	head, err := t.repo.Head()
	if err != nil {
		return plumbing.ZeroHash, fmt.Errorf("checkpoint %s: %w", c.Ref, err)
	}
	if c.Branch = head.Branch; t.tracked.root != nil && !t.tracked.partial {
		c.Index = t.tracked.root.ID()
	}
	for _, parent := range []plumbing.Hash{t.checkpoint, plumbing.NewHash(head.Commit)} {
		if !parent.IsZero() {
			c.Parents = append(c.Parents, parent)
		}
	}
	w := checkpoint.Writer{Root: t.Root(), CommonDir: t.repo.CommonDir, Shared: t.shared, Store: t.store, Now: t.options.Now}
	c.Kept = t.kept
	id, root, err := w.Write(ctx, c)
	if err == nil {
		t.kept = root
	}
	return id, err
}

// Resume takes the state of a checkpoint, instead of the work tree's own, for
// the baseline: the work tree is then compared with what it was when that
// session began.
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
	t.swaysThen = keptSways(then)
	if then == nil { // it is not known how git was set up when the session began
		r, err := t.reopen()
		if err != nil {
			return err
		}
		then = t.setupOf(r)
	}
	if err := t.resumes(then, kept.At); err != nil {
		return err
	}
	t.begin(base)
	t.since = t.options.Now()
	t.nests = nests{}
	t.nests.beginWith(keptNests(kept))
	t.last, t.checkpoint, t.session, t.setupThen = nil, id, id.String(), then
	return nil
}

// begin forgets all states but the new baseline.
func (t *Tree) begin(base *scan.Dir) {
	t.base, t.found, t.also, t.trackedThen = base, nil, nil, nil
	t.states = map[string]*scan.Dir{stateOf(base): base}
}

// Recall makes the state of a checkpoint, of this session or another, one that
// Restore knows, and returns the [loop.Change.State] that names it.
func (t *Tree) Recall(ctx context.Context, commit string) (state string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	root, err := t.recallState(ctx, commit)
	if err != nil {
		return "", err
	}
	if t.states == nil {
		t.states = make(map[string]*scan.Dir)
	}
	state = stateOf(root)
	if _, known := t.states[state]; !known {
		t.states[state] = root
	}
	return state, nil
}

// recallState returns the state of a checkpoint.
func (t *Tree) recallState(ctx context.Context, commit string) (*scan.Dir, error) {
	kept, err := checkpoint.Read(ctx, t.store, plumbing.NewHash(commit))
	if err != nil {
		return nil, err
	}
	return kept.State(ctx, t.store, t.known(ctx))
}

// known returns a state that is at hand, of which another one may have much;
// nil if there is none.
func (t *Tree) known(ctx context.Context) *scan.Dir {
	if t.last != nil {
		return t.last
	}
	if t.readIndex(ctx) != nil {
		return nil // whoever needs the index will see
	}
	return t.tracked.root
}
