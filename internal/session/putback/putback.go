// Package putback restores the files of a work tree: to a state of a session, to what they
// were before such a restore, or to what a log says.
package putback

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"codeloops/internal/config/host"
	"codeloops/internal/diff"
	"codeloops/internal/diff/restore"
	"codeloops/internal/run/worktree"
	"codeloops/internal/session"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// A Restorer is the context in which a restore was requested.
type Restorer struct {
	Host *host.Host
	// Tell is told how an interrupted restore was completed; Note is told remarks.
	Tell, Note func(sentence string)
	// Confirm asks the user to confirm; nil: the user has agreed beforehand.
	Confirm func(ctx context.Context, question string) error
	// DryRun has a restore only say what it would do.
	DryRun bool
	// Recovered says that an interrupted restore of this work tree was completed.
	Recovered bool
}

// Open opens and locks a work tree; the caller calls the returned function.
func (d *Restorer) Open(ctx context.Context, dir, by string) (*worktree.Tree, func(), error) {
	tree, err := worktree.Open(ctx, d.Host, dir, d.Tell)
	if err != nil {
		return nil, nil, err
	}
	if err := worktree.CheckDir(tree); err != nil {
		return nil, nil, errors.Join(err, tree.Close())
	}
	lock, err := tree.Lock(ctx, by, d.Host.Now())
	if err != nil {
		return nil, nil, errors.Join(err, tree.Close())
	}
	return tree, func() {
		_ = lock.Close() // the process's end releases it in any case
		_ = tree.Close() // its objects are written
	}, nil
}

// Recover completes a restore that was interrupted in the user's work tree, unless one is
// still running there. The error says why that is not possible.
func (d *Restorer) Recover(ctx context.Context) error {
	keep := worktree.Kept(d.Host)
	if keep == nil || !keep.Open(d.Host.Dir) {
		return nil
	}
	tree, err := worktree.Open(ctx, d.Host, d.Host.Dir, d.Tell)
	if err != nil {
		return nil // commands that need one will say so
	}
	defer tree.Close() //nolint:errcheck // only read
	lock, err := tree.Lock(ctx, "recover", d.Host.Now())
	if d.Recovered = tree.Recovered(); err == nil {
		return lock.Close()
	}
	if left, ok := errors.AsType[*worktree.UnrestoredError](err); ok {
		return left
	}
	return nil
}

// To restores the files of a work tree to a goal, and says what was done. It first calls
// mayWrite with the work tree's root.
func (d *Restorer) To(ctx context.Context, store *session.Store, g Goal, mayWrite func(root string) error) (told []string, err error) {
	tree, end, err := d.Open(ctx, g.Dir, "restore")
	if err != nil {
		return nil, err
	}
	defer end()
	root := tree.Root()
	if err := mayWrite(root); err != nil {
		return nil, err
	}
	shared, err := tree.RecallFrom(ctx, store, g.Kept)
	if err != nil {
		return nil, err
	}
	defer shared.Close() //nolint:errcheck // the process's end releases it in any case
	way, err := g.way(ctx, tree)
	if err != nil {
		return nil, worktree.NoCheckpoint(err, g.Session)
	}
	if d.DryRun {
		return append(would(root, g.Name, way), wayWords(way)...), nil
	}
	if err := d.may(ctx, root, g, way); err != nil {
		return nil, err
	}
	kept, err := apply(ctx, tree, g.Name, way)
	if err != nil {
		return nil, fmt.Errorf("put the files of %s back to %s: %w", root, g.Name, err)
	}
	if kept == "" {
		kept = "they already were"
		if len(way.Unread) > 0 {
			kept += ", as far as they can be read"
		}
	}
	return append([]string{fmt.Sprintf("the files of %s are those of %s; %s", wording.Line(root), g.Name, kept)}, wayWords(way)...), nil
}

// would says what a restore would do.
func would(root, name string, way diff.RestorePlan) []string {
	if len(way.Changes) == 0 {
		return []string{fmt.Sprintf("the files of %s are those of %s already", wording.Line(root), name)}
	}
	told := []string{fmt.Sprintf("%s of %s would be put back to %s:", wording.Count(len(way.Changes), "file"), wording.Line(root), name)}
	for _, c := range way.Changes {
		told = append(told, "  "+whatOf(c)+" "+wording.Name(c.Path))
	}
	return told
}

func whatOf(c restore.PathChange) string {
	switch {
	case c.Before == restore.Nothing:
		return "bring back"
	case c.After.Kind == restore.Nothing:
		return "remove"
	}
	return "put back"
}

// apply makes the changes of a way, and says where the replaced files are kept; "" if there are no
// changes.
func apply(ctx context.Context, tree *worktree.Tree, title string, way diff.RestorePlan) (kept string, err error) {
	if len(way.Changes) == 0 {
		return "", nil
	}
	done, err := tree.ApplyPlan(ctx, restore.Plan{Title: title, Changes: way.Changes})
	return keptWords(done), err
}

// sure asks the user to confirm, unless they have agreed beforehand.
func (d *Restorer) sure(ctx context.Context, question string) error {
	if d.Confirm == nil {
		return nil
	}
	return d.Confirm(ctx, question)
}

// may asks the user before files are changed, and says if HEAD has moved.
func (d *Restorer) may(ctx context.Context, root string, g Goal, way diff.RestorePlan) error {
	question := fmt.Sprintf("put %s of %s back to %s?", wording.Count(len(way.Changes), "file"), root, g.Name)
	if way.HeadThen != "" {
		moved := fmt.Sprintf("HEAD is at %s, and was at %s then; it stays there, and the files are put back beneath it", way.HeadNow, way.HeadThen)
		if d.Confirm == nil {
			d.Note(moved)
		}
		question = moved + "\n" + question
	}
	return d.sure(ctx, question)
}

// Undo reverts a restore, the last one here or the one named, and says what was done.
func (d *Restorer) Undo(ctx context.Context, name string) (told string, err error) {
	tree, end, err := d.Open(ctx, d.Host.Dir, "restore --undo")
	if err != nil {
		return "", err
	}
	defer end()
	if d.Recovered || tree.Recovered() {
		return "", nil // completing it has undone it
	}
	keep, err := tree.Keep()
	if err != nil {
		return "", err
	}
	one, err := keep.Find(tree.Root(), name)
	if errors.Is(err, restore.ErrNothingKept) {
		return "", hint.Add(err, "`codeloops sessions prune --kept --dry-run` lists what is kept")
	}
	if err != nil {
		return "", err
	}
	p, err := keep.Undo(one)
	if err != nil {
		return "", err
	}
	those := fmt.Sprintf("the files of %s are as they were before %s replaced them", wording.Line(tree.Root()), one.Title)
	if len(p.Changes) == 0 {
		return those + " already", nil
	}
	question := fmt.Sprintf("bring back %s of %s, replaced by %s (%s)?",
		wording.Count(len(p.Changes), "file"), tree.Root(), one.Title, one.Name)
	if err := d.sure(ctx, question); err != nil {
		return "", err
	}
	done, err := tree.ApplyPlan(ctx, p)
	if err != nil {
		return "", err
	}
	return those + "; " + keptWords(done), nil
}

// wayWords says what a restore leaves different from the state it restores.
func wayWords(way diff.RestorePlan) (sentences []string) {
	for _, what := range []struct {
		paths []string
		words string
	}{
		{way.Ignored, "not removed, as ignore rules hide it, or did: "},
		{way.Nested, "not removed, as it is below another repository: "},
		{way.Moved, "the commits of repositories inside stay as they are: "},
	} {
		if len(what.paths) > 0 {
			sentences = append(sentences, what.words+worktree.Names(slices.Sorted(slices.Values(what.paths))))
		}
	}
	if len(way.Unread) > 0 {
		sentences = append(sentences, "not put back: "+wording.List(way.Unread, 5))
	}
	return sentences
}

// keptWords says where the replaced files are kept.
func keptWords(done restore.Done) string {
	return fmt.Sprintf("what was there is kept in %s (codeloops sessions restore --undo)", done.Dir)
}
