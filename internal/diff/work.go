package diff

import (
	"context"
	"fmt"
	"io/fs"
	"slices"

	"codeloops/internal/diff/restore"
)

// A Work is work that was done elsewhere, as changes to the current files.
type Work struct {
	Changes []restore.PathChange
	// Conflicts are the paths that were changed here, too. They include files whose permissions
	// were changed differently in both places, of which git may see nothing.
	Conflicts []string
	// Left is what stays different, without Changes.
	Left RestorePlan
}

// Same reports whether two works make the same changes of the same files.
func (w Work) Same(other Work) bool {
	return slices.EqualFunc(w.Changes, other.Changes, func(a, b restore.PathChange) bool {
		return a.Path == b.Path && a.Before == b.Before && a.After.Kind == b.After.Kind && a.After.Perm == b.After.Perm
	})
}

// Work returns the work that was done between two states that [Tree.Recall] returned. A file keeps
// its current permissions if the work did not change them.
func (t *Tree) Work(ctx context.Context, from, to string) (Work, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := &restorePlanner{watcher: &t.watcher, from: t.version(from), target: t.version(to)}
	if err := w.plan(ctx, &t.memory, to, from); err != nil {
		return Work{}, fmt.Errorf("put the files of %s back: %w", t.Root(), err)
	}
	done := Work{Conflicts: slices.DeleteFunc(w.both, func(name string) bool { return !w.did(name) })}
	for _, c := range w.Changes {
		if !w.did(c.Path) {
			continue
		}
		done.Changes = append(done.Changes, c)
		if !slices.Contains(done.Conflicts, c.Path) && !w.stays(w.in(w.from.state, c.Path), w.in(w.now, c.Path)) {
			done.Conflicts = append(done.Conflicts, c.Path)
		}
	}
	done.Left = w.RestorePlan
	done.Left.Changes = nil
	return done, nil
}

// did reports whether a path was changed by the work.
func (w *restorePlanner) did(name string) bool {
	then, goal := w.in(w.from.state, name), w.in(w.target.state, name)
	return !alike(then, goal) || then != nil && then.Mode != goal.Mode
}

// stays reports whether the user has not changed a file, apart from permissions that [restorePlanner.merged]
// handles.
func (w *restorePlanner) stays(then, now *entry) bool {
	merged := w.from.record != nil && w.target.record != nil && w.files.FileMode
	return alike(then, now) && (merged || then == nil || then.Mode == now.Mode)
}

// alike reports whether two files, which may be nil, have the same kind and content.
func alike(a, b *entry) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.ID == b.ID && (a.Mode == b.Mode || a.isFile() && b.isFile())
}

// in returns what a state has at a path, as far as that can be read.
func (w *restorePlanner) in(s *state, name string) *entry {
	e, _ := w.objects.entry(s, name) // the plan has read it
	return e
}

// merged returns the permissions of an existing file, given the current ones and the target. The
// current ones stay if the work did not change them.
func (w *restorePlanner) merged(path string, there, will fs.FileMode) fs.FileMode {
	then := w.in(w.from.state, path)
	if then == nil || !then.isFile() {
		return will
	}
	was := w.from.record.perm(path, then.Mode)
	if there == was {
		return will
	}
	if will != was && will != there {
		w.both = append(w.both, path)
	}
	return there
}
