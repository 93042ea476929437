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
)

// end returns the branch's last commit; "" is none. It first calls look if there is a work tree.
func (p *Place) end(ctx context.Context, look func() error) (head string, err error) {
	if _, gone := os.Lstat(p.Dir); p.rec.Ready && !p.rec.Removing && gone == nil {
		if err = p.settle(ctx); err == nil {
			err = look()
		}
	}
	if err == nil {
		head, _, err = p.repo.Commit(ctx, p.branch.ref())
	}
	return head, err
}

// remove removes the place, whose branch is at head.
func (p *Place) remove(ctx context.Context, head string) error {
	if err := p.tree.unused(ctx); err != nil {
		return err
	}
	p.rec.Removing = true
	if err := errors.Join(p.rec.save(), p.tree.unlock()); err != nil { // left by an interrupted removal
		return err
	}
	if err := p.tree.remove(p.Dir, p.tree.twin()); err != nil {
		return err
	}
	if head != "" {
		if _, err := p.repo.Run(ctx, p.repo.Root, "update-ref", "-d", p.branch.ref(), head); err != nil {
			return err
		}
	}
	if err := os.Remove(p.rec.file); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Discard removes the place and its branch. It returns the ref that keeps the branch and uncommitted work; "" if
// another ref has all of it, as after a merge.
func (p *Place) Discard(ctx context.Context) (ref string, err error) {
	var last string // including uncommitted work
	head, err := p.end(ctx, func() (err error) {
		last, err = p.keep(ctx)
		return err
	})
	if err == nil && head != "" {
		ref, err = p.branch.drop(ctx, cmp.Or(last, head))
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
	clean, err := p.clean(ctx)
	if err == nil {
		err = p.stage(ctx, nil, clean)
	}
	if err != nil {
		return "", err
	}
	tree, err := p.tree.git(ctx, "write-tree")
	if err != nil {
		return "", err
	}
	out, err := p.tree.git(ctx, "rev-parse", p.branch.ref(), "HEAD^{commit}", p.branch.ref()+"^{tree}")
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

// elsewhere reports whether another ref contains a commit.
func (b branch) elsewhere(ctx context.Context, id string) (bool, error) {
	refs, err := b.repo.Run(ctx, b.repo.Root, "for-each-ref", "--format=%(refname)", "--contains", id)
	for ref := range strings.Lines(refs) {
		if strings.TrimSpace(ref) != b.ref() {
			return true, err
		}
	}
	return false, err
}

// dropped is the prefix of refs that keep discarded branches.
const dropped = "refs/codeloops/dropped/"

// drop keeps a commit at a new ref and returns that; "" if another ref has it already.
func (b branch) drop(ctx context.Context, commit string) (string, error) {
	if kept, err := b.elsewhere(ctx, commit); err != nil || kept {
		return "", err
	}
	for n := 1; ; n++ {
		ref := dropped + strings.TrimPrefix(b.name, branches)
		if n > 1 {
			ref = fmt.Sprintf("%s-%d", ref, n)
		}
		at, there, err := b.repo.Commit(ctx, ref)
		if err != nil || there && at == commit {
			return ref, err
		}
		if !there {
			_, err = b.repo.Run(ctx, b.repo.Root, "update-ref", ref, commit, "")
			return ref, err
		}
	}
}
