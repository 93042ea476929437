package merge

import (
	"context"
	"errors"
	"fmt"

	"codeloops/internal/queue/git"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// Take takes what waits for a target into it, as a fast-forward or a merge, and returns the commit that the target then
// has; "" where nothing waits. If the target is checked out, git updates that work tree, and refuses where changes of the
// user's are in the way, or busy does. What was merged before the target was rewritten is moved first, without what was removed.
func (m *Merger) Take(ctx context.Context, target string, busy func(tree string) error) (tip string, err error) {
	r := Request{Target: target}
	done, err := m.lock(ctx, &r)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, done()) }()
	for n := range rounds {
		at, err := m.settle(ctx, target)
		switch {
		case err != nil:
			return "", err
		case at.ahead == "" && n > 0:
			return at.tip, nil
		case at.ahead == "":
			return "", nil
		}
		if at.tree != "" {
			err = busy(at.tree)
		}
		if err == nil {
			err = m.into(ctx, at)
		}
		if err != nil {
			return "", fmt.Errorf("take what waits for %s: %w", wording.Name(target), err)
		}
	}
	return "", hint.Errorf("try again", "%s has moved on %d times meanwhile", wording.Name(target), rounds)
}

// into makes one step of taking.
func (m *Merger) into(ctx context.Context, at Position) error {
	if err := m.kept(ctx, at); errors.Is(err, ErrRewritten) {
		return m.move(ctx, at)
	} else if err != nil {
		return err
	}
	forward, err := m.repo.Contains(ctx, at.ahead, at.tip)
	if err != nil {
		return err
	}
	if !forward {
		at.ahead, err = m.keep(ctx, at.target, func(d *git.Draft) (string, error) {
			tree, err := m.mergeTree(ctx, d, at, at.tip, at.ahead)
			if err != nil {
				return "", err
			}
			return d.Commit(ctx, tree, "Merge what waited for "+at.target+"\n", at.tip, at.ahead)
		})
		if err != nil {
			return err
		}
	}
	if at.tree != "" {
		return m.inTree(ctx, at)
	}
	_, err = m.change(ctx, at, "take what waited", "update "+heads+at.target+" "+at.ahead+" "+at.tip)
	return err
}

// inTree forwards the work tree that has the target checked out.
func (m *Merger) inTree(ctx context.Context, at Position) error {
	if head, _ := m.repo.Run(ctx, at.tree, "symbolic-ref", "--quiet", "HEAD"); head != heads+at.target { // no branch is an error
		return hint.Errorf("git status there says what is under way; finish it, then try again", "%s is not checked out in %s: a rebase or a bisect is under way", wording.Name(at.target), at.tree)
	}
	// Git spares ignored files only in a fast-forward, and only if it is told to.
	_, err := m.repo.Run(ctx, at.tree, "merge", "--quiet", "--no-autostash", "--no-overwrite-ignore", "--ff-only", at.ahead)
	if err != nil {
		err = hint.Add(err, "commit or stash what is in the way in "+at.tree+", then try again")
	}
	return err
}

// move moves what waits to the target that was rewritten below it, as one commit. The old ones are kept at a ref.
func (m *Merger) move(ctx context.Context, at Position) error {
	made, err := m.repo.Run(ctx, m.repo.Root, "rev-list", "--first-parent", "--reverse", "--no-commit-header", "--format=* %s", at.ahead, "^"+at.base, "--")
	if err != nil {
		return err
	}
	moved, err := m.keep(ctx, at.target, func(d *git.Draft) (string, error) {
		// git merge-tree accepts a merge base only since 2.40, so temporary commits with the same trees and no other history are
		// merged instead.
		ids, parents := []string{at.base, at.tip, at.ahead}, []string(nil)
		for i, id := range ids {
			if ids[i], err = d.Commit(ctx, id+"^{tree}", "for a merge\n", parents...); err != nil {
				return "", err
			}
			parents = ids[:1]
		}
		tree, err := m.mergeTree(ctx, d, at, ids[1], ids[2])
		if err != nil {
			return "", err
		}
		return d.Commit(ctx, tree, "Merge what waited for "+at.target+" before it was rewritten\n\n"+made+"\n", at.tip)
	})
	if err == nil {
		err = m.note(at, mark{moved, at.tip})
	}
	if err == nil {
		kept := "update refs/codeloops/dropped/" + flat(at.target) + "-" + at.ahead[:12] + " " + at.ahead
		_, err = m.change(ctx, at, "move what waited", kept, "update "+waiting+at.target+" "+moved+" "+at.ahead)
	}
	return err
}

// mergeTree merges two commits without conflicts.
func (m *Merger) mergeTree(ctx context.Context, d *git.Draft, at Position, ours, theirs string) (string, error) {
	res, err := m.repo.MergeTree(ctx, d.Env, ours, theirs)
	if err == nil && len(res.Files) > 0 {
		err = hint.Errorf("git merge "+wording.Shell(waiting+at.target)+", and resolve them there", "there are conflicts in %s", wording.List(res.Files, 5))
	}
	return res.Tree, err
}
