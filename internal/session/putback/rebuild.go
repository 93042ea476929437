package putback

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"

	"codeloops/internal/diff"
	"codeloops/internal/loop"
	"codeloops/internal/run/worktree"
	"codeloops/internal/session"
	"codeloops/internal/session/logpatch"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// Rebuild makes the files of a checkout, in a directory, those that a session's change left,
// from its log alone, and says what was done. With force it also does so at another commit
// than the session's, and replaces files that differ.
func (d *Restorer) Rebuild(ctx context.Context, one session.Overview, change loop.Change, dir string, force bool) (told []string, err error) {
	tree, end, err := d.Open(ctx, dir, "replay --apply")
	if err != nil {
		return nil, err
	}
	defer end()
	if err := sameBase(one, tree, force); err != nil {
		return nil, err
	}
	store, err := session.NewStore(filepath.Dir(one.Path))
	if err != nil {
		return nil, err
	}
	shared, err := tree.RecallFrom(ctx, store, one.Session.Checkpoints)
	if err != nil {
		return nil, err
	}
	defer shared.Close() //nolint:errcheck // the process's end releases it in any case
	return d.rebuild(ctx, tree, change, force)
}

// sameBase rejects a checkout of another commit than the session's.
func sameBase(one session.Overview, tree *worktree.Tree, force bool) error {
	base, head := one.Session.BaseCommit, tree.BaseCommit()
	if base == "" || base == head || force {
		return nil // if the log does not name one, each file is compared
	}
	what := fmt.Sprintf("git worktree add --detach ../rebuilt %.12s && codeloops replay --apply -d ../rebuilt %s; or --force", base, one.ID)
	return hint.Errorf(what, "the session began at commit %.12s, and %s is at %.12s", base, tree.Root(), cmp.Or(head, "a branch without commits"))
}

// rebuild makes all changes, or none.
func (d *Restorer) rebuild(ctx context.Context, tree *worktree.Tree, change loop.Change, force bool) (told []string, err error) {
	if err := tree.Baseline(ctx); err != nil {
		return nil, err
	}
	edits, err := logpatch.Edits(ctx, worktree.Git{Environ: d.Host.Environ}, change, tree, force)
	if err != nil {
		return nil, hint.Add(
			fmt.Errorf("nothing was changed in %s, because not all files can be rebuilt:\n%w", tree.Root(), err),
			"a session that began with uncommitted changes can only be rebuilt on top of these"+
				"; --force replaces files that have changed since",
		)
	}
	state, err := tree.Edited(ctx, edits)
	if err != nil {
		return nil, fmt.Errorf("nothing was changed in %s:\n%w", tree.Root(), err)
	}
	way, err := tree.PlanRestore(ctx, state)
	if err != nil {
		return nil, err
	}
	kept, err := apply(ctx, tree, "what is rebuilt", way)
	if err != nil {
		return nil, err
	}
	now, err := tree.Capture(ctx)
	if err != nil {
		return nil, err
	}
	return append([]string{rebuilt(tree.Root(), change, now.State, kept, way)}, wayWords(way)...), nil
}

// rebuilt says what was done, and how the result compares with the recorded state.
func rebuilt(root string, change loop.Change, state, kept string, way diff.RestorePlan) string {
	text := fmt.Sprintf("rebuilt %s in %s", wording.Count(change.Shape().Files, "file"), root)
	switch {
	case change.Empty():
		text = "the iteration left everything as the session had found it: there is nothing to rebuild"
	case change.State == state && len(way.Converted) > 0:
		text += ": for git the work tree is what the iteration left"
	case change.State == state:
		text += ": the work tree is, byte for byte, what the iteration left"
	case change.State != "" && len(wayWords(way)) == 0:
		text += ": these files are what the iteration left; others differ from those that the session began with"
	}
	if kept != "" {
		text += "; " + kept
	}
	if n := logpatch.Commits(change); n > 0 {
		stay := fmt.Sprintf("%d repositories inside stay at their commits", n)
		if n == 1 {
			stay = "1 repository inside stays at its commit"
		}
		text += "; " + stay
	}
	return text
}
