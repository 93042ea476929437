package place

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"codeloops/internal/queue/git"
	"codeloops/internal/view"
	"codeloops/internal/wording/hint"
)

// Remove removes the place and its branch, provided that the branch is contained in a commit that is kept
// elsewhere, and nothing is uncommitted.
func (p *Place) Remove(ctx context.Context, merged string) error {
	head, err := p.end(ctx, func() error {
		if _, err := p.attach(ctx); err != nil {
			return err
		}
		if _, merging, err := p.merging(ctx); err != nil || merging {
			return cmp.Or(err, hint.Errorf("commit it first", "a merge is in progress in %s", p.Dir))
		}
		return p.whole(ctx)
	})
	if err == nil && head != "" {
		err = p.contained(ctx, merged, head)
	}
	if err == nil {
		err = p.remove(ctx, head)
	}
	if err != nil {
		return fmt.Errorf("remove the work tree of task %s: %w", p.Task, err)
	}
	return nil
}

// end returns the branch's last commit; "" is none. It first calls look if there is a work tree.
func (p *Place) end(ctx context.Context, look func() error) (head string, err error) {
	if _, gone := os.Lstat(p.Dir); p.rec.Ready && !p.rec.Removing && gone == nil {
		if err = p.settle(ctx); err == nil {
			err = look()
		}
	}
	if err == nil {
		head, _, err = p.repo.Commit(ctx, p.ref())
	}
	return head, err
}

// remove removes the place, whose branch is at head.
func (p *Place) remove(ctx context.Context, head string) error {
	if err := p.unused(ctx); err != nil {
		return err
	}
	p.rec.Removing = true
	if err := errors.Join(p.rec.save(), p.unlock()); err != nil { // left by an interrupted removal
		return err
	}
	for _, tree := range []string{p.Dir, p.twin()} {
		if err := errors.Join(view.Remove(tree), p.repo.Trees().Forget(tree)); err != nil {
			return err
		}
	}
	if head != "" {
		if _, err := p.repo.Run(ctx, p.repo.Root, "update-ref", "-d", p.ref(), head); err != nil {
			return err
		}
	}
	if err := os.Remove(p.rec.file); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// dropped is the prefix of refs that keep discarded branches.
const dropped = "refs/codeloops/dropped/"

// Discard removes the place and its branch. It returns the ref that keeps the branch and uncommitted work; "" if
// the repository has everything elsewhere.
func (p *Place) Discard(ctx context.Context) (ref string, err error) {
	var last string // including uncommitted work
	head, err := p.end(ctx, func() (err error) {
		last, err = p.keep(ctx)
		return err
	})
	if err == nil && head != "" {
		ref, err = p.drop(ctx, cmp.Or(last, head))
	}
	if err == nil {
		err = p.remove(ctx, head)
	}
	if err != nil {
		return "", fmt.Errorf("discard the work tree of task %s: %w", p.Task, err)
	}
	return ref, nil
}

// keep returns a commit of everything in the place. Its parents are the branch and, if different, HEAD.
func (p *Place) keep(ctx context.Context) (string, error) {
	if err := p.stage(ctx); err != nil {
		return "", err
	}
	tree, err := p.git(ctx, "write-tree")
	if err != nil {
		return "", err
	}
	out, err := p.git(ctx, "rev-parse", p.ref(), "HEAD^{commit}", p.ref()+"^{tree}")
	if err != nil {
		return "", err
	}
	ids := strings.Fields(out)
	if ids[0] == ids[1] && ids[2] == tree {
		return ids[0], nil
	}
	args := []string{"commit-tree", tree, "-F", "-", "-p", ids[0]}
	if ids[0] != ids[1] {
		args = append(args, "-p", ids[1])
	}
	env, err := p.repo.Identity(ctx, p.Dir)
	if err != nil {
		return "", err
	}
	message := fmt.Sprintf("codeloops: what was not committed when task %s was discarded\n", p.Task)
	return p.repo.Do(ctx, git.Call{Dir: p.Dir, Env: env, Stdin: []byte(message)}, args...)
}
