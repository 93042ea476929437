package putback

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"codeloops/internal/diff"
	"codeloops/internal/loop"
	"codeloops/internal/run/worktree"
	"codeloops/internal/session"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// Rebuild makes the files of a checkout, in a directory, those that a session's change left,
// from its log alone, and says what was done.
func (d *Restorer) Rebuild(ctx context.Context, one session.Overview, change loop.Change, dir string) (told []string, err error) {
	tree, end, err := d.Open(ctx, dir, "replay --apply")
	if err != nil {
		return nil, err
	}
	defer end()
	if err := sameBase(one, tree); err != nil {
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
	return d.rebuild(ctx, tree, change)
}

// sameBase rejects a checkout of another commit than the session's.
func sameBase(one session.Overview, tree *worktree.Tree) error {
	base, head := one.Session.BaseCommit, tree.BaseCommit()
	if base == "" || base == head {
		return nil // if the log does not name one, each file is compared
	}
	what := fmt.Sprintf("git worktree add --detach ../rebuilt %.12s && codeloops replay --apply -d ../rebuilt %s", base, one.ID)
	return hint.Errorf(what, "the session began at commit %.12s, and %s is at %.12s", base, tree.Root(), cmp.Or(head, "a branch without commits"))
}

// rebuild makes all changes, or none.
func (d *Restorer) rebuild(ctx context.Context, tree *worktree.Tree, change loop.Change) (told []string, err error) {
	if err := tree.Baseline(ctx); err != nil {
		return nil, err
	}
	state, links, err := patched(ctx, tree.Tree, change)
	if err != nil {
		return nil, hint.Add(
			fmt.Errorf("nothing was changed in %s, because not all files can be rebuilt:\n%w", tree.Root(), err),
			"a session that began with uncommitted changes can only be rebuilt on top of these",
		)
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
	return append([]string{rebuilt(tree.Root(), change, now.State, kept, links, way)}, wayWords(way)...), nil
}

// gitlink is the mode of a nested repository.
const gitlink = 0o160000

// errNotRecorded is a file that is not what was recorded after its patch was applied.
var errNotRecorded = errors.New("the diff in the log does not give the file that was recorded: a secret may have been redacted in it, or the file was another one before")

// patched returns the state that a change makes of the baseline, where git applies it, and the number of nested
// repositories in it: their commits stay, as HEAD does. The error names the files that cannot be rebuilt.
func patched(ctx context.Context, tree *diff.Tree, change loop.Change) (state string, links int, err error) {
	files := slices.DeleteFunc(slices.Clone(change.Files), func(f loop.FileChange) bool { return f.OldMode == gitlink || f.NewMode == gitlink })
	if state, err = tree.Patched(ctx, loop.Change{Files: files}.ApplicablePatch()); err != nil {
		return "", 0, err
	}
	all, err := tree.Changed(ctx, tree.BaseState(), state)
	for _, f := range files {
		i := slices.IndexFunc(all, func(c diff.BlobChange) bool { return c.Path == f.Path })
		if i >= 0 && f.Status != loop.FileDeleted && !strings.HasPrefix(all[i].After.ID, recorded(f)) {
			err = errors.Join(err, fmt.Errorf("%s: %w", wording.Name(f.Path), errNotRecorded))
		}
	}
	return state, len(change.Files) - len(files), err
}

// recorded returns the id of a file after its patch, which may be abbreviated; "" if the patch does not tell. Only its
// header has a line that begins so: those of hunks begin with a sign.
func recorded(f loop.FileChange) string {
	_, both, _ := strings.Cut(cmp.Or(f.BinaryPatch, f.Patch), "\nindex ")
	both, _, _ = strings.Cut(both, "\n")
	_, is, _ := strings.Cut(both, "..")
	is, _, _ = strings.Cut(is, " ") // the mode
	return is
}

// rebuilt says what was done, and how the result compares with the recorded state.
func rebuilt(root string, change loop.Change, state, kept string, links int, way diff.RestorePlan) string {
	text := fmt.Sprintf("rebuilt %s in %s", wording.Count(change.Shape().Files, "file"), root)
	switch {
	case change.Empty():
		text = "the iteration left everything as the session had found it: there is nothing to rebuild"
	case change.State == state:
		text += ": the work tree is, byte for byte, what the iteration left"
	case change.State != "" && len(wayWords(way)) == 0:
		text += ": these files are what the iteration left; others differ from those that the session began with"
	}
	if kept != "" {
		text += "; " + kept
	}
	if links > 0 {
		text += "; the commits of repositories inside stay as they are"
	}
	return text
}
