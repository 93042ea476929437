package diff

import (
	"context"
	"path"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/scan"
	"codeloops/internal/loop"
)

// A sparse checkout leaves tracked files out of the work tree, and an agent can change which. To git
// nothing is deleted or added by that, so it is no work either: a commit of it would delete files that
// nobody wanted to delete, and undoing it would take files away that are the user's.

// asBefore returns a state in which files are as in the baseline if only a sparse checkout has taken
// them out of the work tree, or brought them in. Those that it has taken out are added.
func (w *watcher) asBefore(now *scan.Dir) (state *scan.Dir, added []string) {
	if w.base == nil || w.tracked.cut == nil && w.cutThen == nil {
		return now, nil
	}
	edits := map[string]scan.Edit{} // by directory
	for _, c := range scan.Compare(w.base, now) {
		dir, name := path.Split(c.Path)
		e := edits[dir]
		switch {
		case c.After == nil && alike(w.tracked.cut.Find(c.Path), c.Before) && free(now, c.Path):
			e.With, added = append(e.With, *c.Before), append(added, c.Path)
		case c.Before == nil && alike(w.cutThen.Find(c.Path), c.After):
			if e.Without == nil {
				e.Without = map[string]bool{}
			}
			e.Without[name] = true
		default:
			continue
		}
		edits[dir] = e
	}
	for dir, e := range edits {
		now = now.Edited(dir, e)
	}
	now.Seal()
	return now, added
}

// free reports whether nothing stands in the way of a file in a state.
func free(state *scan.Dir, name string) bool {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if f := state.Find(dir); f != nil && f.Mode != scan.Gitlink {
			return false
		}
	}
	return state.Dir(name).Empty()
}

// committed returns the files of a commit, or nil if it cannot be read.
func (w *watcher) committed(ctx context.Context, commit string) *scan.Dir {
	text, err := w.store.Commit(ctx, plumbing.NewHash(commit))
	if err != nil {
		return nil
	}
	first, _, _ := strings.Cut(string(text), "\n")
	files, err := scan.Load(ctx, plumbing.NewHash(strings.TrimPrefix(first, "tree ")), w.known(ctx), w.store.Tree)
	if err != nil {
		return nil
	}
	return files
}

// cut returns the files that a sparse checkout has taken out of the work tree since the session began. If
// there are many in a directory, it is named instead.
func (c *capture) cut() (all []loop.Unshown) {
	of := map[string][]string{}
	for _, name := range c.cutSince {
		of[path.Dir(name)+"/"] = append(of[path.Dir(name)+"/"], name)
	}
	for dir, names := range of {
		if len(names) > maxHiddenIn && len(c.cutSince) > maxHidden {
			all = append(all, loop.Unshown{Path: dir, Why: loop.CutOut, Status: loop.FileDeleted, Files: len(names)})
			continue
		}
		for _, name := range names {
			all = append(all, loop.Unshown{Path: name, Why: loop.CutOut, Status: loop.FileDeleted})
		}
	}
	return all
}
