package diff

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/patch"
	"codeloops/internal/diff/scan"
	"codeloops/internal/diff/shown"
	"codeloops/internal/diff/store"
	"codeloops/internal/loop"
)

// A version is what a path is in one state; the zero value is none.
type version struct {
	mode uint32
	id   plumbing.Hash
}

func versionOf(f *scan.File) version {
	if f == nil {
		return version{}
	}
	return version{mode: f.Mode, id: f.ID}
}

// A change identifies the text of a changed path.
type change struct {
	path          string
	before, after version
}

func changeOf(c scan.Change) change {
	return change{path: c.Path, before: versionOf(c.Before), after: versionOf(c.After)}
}

// The differences of a state are what it differs in from the baseline.
type differences struct {
	base, state *scan.Dir
	files       []loop.FileChange
}

// differences returns those of a state. Another look often finds the state of the
// last capture.
func (t *Tree) differences(ctx context.Context, state *scan.Dir) ([]loop.FileChange, error) {
	if d := &t.differs; d.base == t.base && d.state == state {
		return slices.Clone(d.files), nil
	}
	files, err := t.render(ctx, scan.Compare(t.base, state))
	if err != nil {
		return nil, err
	}
	t.differs = differences{base: t.base, state: state, files: slices.Clone(files)}
	return files, nil
}

// render returns the changes with their texts, in the order given. The texts
// of the last capture are used again.
func (t *Tree) render(ctx context.Context, changes []scan.Change) ([]loop.FileChange, error) {
	texts := make([][]loop.FileChange, len(changes))
	errs := make([]error, len(changes))
	each(len(changes), func(m *patch.Maker, i int) {
		var known bool
		if texts[i], known = t.texts[changeOf(changes[i])]; !known && ctx.Err() == nil {
			texts[i], errs[i] = t.file(ctx, m, changes[i])
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := several(errs); err != nil {
		return nil, err
	}
	t.texts = make(map[change][]loop.FileChange, len(changes))
	var files []loop.FileChange
	for i, c := range changes {
		t.texts[changeOf(c)] = texts[i]
		files = append(files, texts[i]...)
	}
	return files, nil
}

// each calls do for 0 to n-1, in parallel.
func each(n int, do func(m *patch.Maker, i int)) {
	var (
		next    atomic.Int64
		workers sync.WaitGroup
	)
	work := func() {
		var m patch.Maker
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			do(&m, i)
		}
	}
	for range min(n, runtime.GOMAXPROCS(0)) - 1 {
		workers.Go(work)
	}
	work()
	workers.Wait()
}

func (t *Tree) file(ctx context.Context, m *patch.Maker, c scan.Change) ([]loop.FileChange, error) {
	before, err := t.side(ctx, c.Before)
	if err != nil {
		return nil, fmt.Errorf("read the old side of %s: %w", shown.Name(c.Path), err)
	}
	after, err := t.side(ctx, c.After)
	if err != nil {
		return nil, fmt.Errorf("read the new side of %s: %w", shown.Name(c.Path), err)
	}
	return m.File(c.Path, before, after), nil
}

func (t *Tree) side(ctx context.Context, f *scan.File) (patch.Side, error) {
	if f == nil {
		return patch.Side{}, nil
	}
	side := patch.Side{Mode: f.Mode, ID: f.ID}
	if f.Mode == scan.Gitlink {
		return side, nil
	}
	if f.Size() > store.Large && !t.store.Has(ctx, f.ID) { // it was not kept
		side.TooLarge, side.Size = true, f.Size()
		return side, nil
	}
	content, err := t.store.Blob(ctx, f.ID)
	if errors.Is(err, store.ErrLarge) {
		side.TooLarge = true
		side.Size, err = t.store.Size(ctx, f.ID)
		return side, err
	}
	side.Content = content
	return side, err
}
