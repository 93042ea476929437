package diff

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/file"
)

// Baseline begins a session: it takes the state of the work tree that captures are compared with.
// The first Checkpoint of it identifies the session.
func (t *Tree) Baseline(ctx context.Context) (err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.look(ctx); err != nil {
		return err
	}
	if t.keptIn, err = t.keep(ctx, plumbing.ZeroHash, t.basis.state.tree); err != nil {
		return fmt.Errorf("keep the state of %s: %w", t.Root(), err)
	}
	t.kept = t.basis.state.tree
	return t.settle(ctx)
}

// Look returns the [loop.Change.State] of the work tree. It begins no session.
func (t *Tree) Look(ctx context.Context) (state string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.look(ctx); err != nil {
		return "", err
	}
	return t.basis.state.id, nil
}

// look takes the first look of a session.
func (t *Tree) look(ctx context.Context) error {
	if err := t.make(); err != nil {
		return err
	}
	t.start, t.sight = start{basis: &basis{}}, nil
	var finding sync.WaitGroup
	finding.Go(func() { t.newest = t.findNewest(ctx) })
	err := t.first(ctx)
	finding.Wait()
	if err != nil {
		return fmt.Errorf("take the state of %s: %w", t.Root(), err)
	}
	return nil
}

func (t *Tree) first(ctx context.Context) error {
	if err := cmp.Or(t.reopen(), t.atErr); err != nil {
		return err
	}
	t.head = t.at
	if err := t.tracked.read(ctx, t.shadow, t.opened.Repository, t.options.Environ); err != nil {
		return fmt.Errorf("read the index: %w", err)
	}
	v := &view{shadow: t.shadow, root: t.Root(), index: t.shadow.file("first")}
	if err := v.begin(ctx, &t.tracked, t.opened, t.options.Environ); err != nil {
		return err
	}
	seen, err := t.snapshot(ctx, &basis{areas: map[string]area{"": {index: v.index, names: t.tracked.names()}}}, nil)
	if err != nil {
		return err
	}
	t.sight = seen
	if t.basis, err = t.basisFrom(ctx, seen); err != nil {
		return err
	}
	t.began = t.beginning()
	t.begin(t.basis)
	return nil
}

// settle notes the permissions of the baseline, and waits until the second is over in which a file got the time that it has,
// as by tar or chmod. Git compares whole seconds, and reads a file that was written in the second of its index. Of another
// one that is as it was then, and is changed again within the second, with the same size and its time put back, the stat would
// tell nothing.
func (t *Tree) settle(ctx context.Context) error {
	changed, err := t.objects.compare(ctx, t.basis.state, t.sight.state)
	if err != nil {
		return err
	}
	var youngest int64 // second
	t.permsThen, err = t.permissions(ctx, t.basis.state, func(name string, info fs.FileInfo) {
		_, is := slices.BinarySearchFunc(changed, name, func(d difference, name string) int { return strings.Compare(d.path, name) })
		at := file.StampOf(info)
		if second := at.Ctime / int64(time.Second); !is && at.Mtime/int64(time.Second) < second {
			youngest = max(youngest, second)
		}
	})
	if err != nil {
		return err
	}
	const tick = 20 * time.Millisecond // by which the times of files may lag behind the clock
	wait := time.Until(time.Unix(youngest+1, 0).Add(tick))
	if wait <= 0 {
		return nil
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(min(wait, time.Second+tick)): // clocks may differ
		return nil
	}
}

// basisFrom makes the basis of what was seen.
func (w *watcher) basisFrom(ctx context.Context, s *sight) (*basis, error) {
	nests := []string{}
	for name := range s.nests {
		nests = append(nests, name)
	}
	slices.Sort(nests)
	b := &basis{state: s.state, last: s.state, nests: nests, areas: map[string]area{}, then: w.tracked.entries}
	for at, a := range s.areas {
		var err error
		if b.areas[at], err = w.indexed(ctx, a.index, a.tree); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// begin forgets all states but the baseline.
func (t *Tree) begin(b *basis) {
	t.basis = b
	clear(t.states)
	t.know(b.state)
}

// BaselineAt is Baseline with the files of a commit of the repository, given its full id, in place of those that are
// there now: captures then also return what was done before. What git does not record, such as the files of a
// repository inside, is taken to have been as it is now.
func (t *Tree) BaselineAt(ctx context.Context, commit string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.look(ctx); err != nil {
		return err
	}
	base, err := t.committedState(ctx, commit)
	if err != nil {
		return fmt.Errorf("read commit %s: %w", commit, err)
	}
	b, err := t.basisOf(ctx, base, t.basis.nests)
	if err != nil {
		return err
	}
	t.head.Commit = commit
	t.begin(b)
	return t.settle(ctx)
}
