package merge

import (
	"context"
	"fmt"

	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// Take takes what waits for a target into it, as a fast-forward or a merge, and returns the commit that the target then
// has; "" where nothing waits. If the target is checked out, git updates that work tree, and refuses where changes of the
// user's are in the way, or busy does. What was merged before the target was rewritten is moved first, without what was removed.
func (m *Merger) Take(ctx context.Context, target string, busy func(tree string) error) (tip string, err error) {
	r := Request{Target: target}
	if _, err := m.look(ctx, target); err != nil {
		return "", err
	}
	lock, err := m.lock(ctx, &r)
	if err != nil {
		return "", err
	}
	defer lock.Close() //nolint:errcheck // the system releases it
	for range rounds {
		at, err := m.look(ctx, target)
		if err != nil {
			return "", err
		}
		if at.ahead == "" {
			return tip, nil
		}
		if taken, err := m.repo.Contains(ctx, at.tip, at.ahead); err != nil || taken {
			if err == nil {
				_, err = m.change(ctx, at, "taken", at.without()...)
			}
			return at.tip, err
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
func (m *Merger) into(ctx context.Context, at position) error {
	forward, err := m.repo.Contains(ctx, at.ahead, at.tip)
	if err != nil {
		return err
	}
	if m.kept(ctx, at) != nil {
		return m.move(ctx, at)
	}
	if !forward {
		if at.ahead, err = m.mergeOf(ctx, at, at.tip, at.ahead, "Merge what waited for "+at.target+"\n"); err != nil {
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
func (m *Merger) inTree(ctx context.Context, at position) error {
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
func (m *Merger) move(ctx context.Context, at position) error {
	// git merge-tree accepts a merge base only since 2.40, so temporary commits with the same trees and no other history are
	// merged instead.
	ids := []string{at.base, at.tip, at.ahead}
	for i, id := range ids {
		var parents []string
		if i > 0 {
			parents = ids[:1]
		}
		made, err := m.repo.Direct().Commit(ctx, id+"^{tree}", "for a merge\n", parents...)
		if err != nil {
			return err
		}
		ids[i] = made
	}
	tree, err := m.mergeTree(ctx, at, ids[1], ids[2])
	if err != nil {
		return err
	}
	made, err := m.repo.Run(ctx, m.repo.Root, "rev-list", "--first-parent", "--reverse", "--no-commit-header", "--format=* %s", at.ahead, "^"+at.base, "--")
	if err != nil {
		return err
	}
	moved, err := m.repo.Direct().Commit(ctx, tree, "Merge what waited for "+at.target+" before it was rewritten\n\n"+made+"\n", at.tip)
	if err == nil {
		err = m.note(at, mark{moved, at.tip})
	}
	if err == nil {
		_, err = m.change(ctx, at, "move what waited", at.keep(), "update "+waiting+at.target+" "+moved+" "+at.ahead)
	}
	return err
}

// mergeOf makes the commit of a merge.
func (m *Merger) mergeOf(ctx context.Context, at position, ours, theirs, message string) (string, error) {
	tree, err := m.mergeTree(ctx, at, ours, theirs)
	if err != nil {
		return "", err
	}
	return m.repo.Direct().Commit(ctx, tree, message, ours, theirs)
}

// mergeTree merges two commits without conflicts.
func (m *Merger) mergeTree(ctx context.Context, at position, ours, theirs string) (string, error) {
	res, err := m.repo.MergeTree(ctx, nil, ours, theirs)
	if err == nil && len(res.Files) > 0 {
		err = hint.Errorf("git merge "+wording.Shell(waiting+at.target)+", and resolve them there", "there are conflicts in %s", wording.List(res.Files, 5))
	}
	return res.Tree, err
}
