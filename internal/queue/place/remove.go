package place

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"codeloops/internal/queue/git"
	"codeloops/internal/view"
)

// Discard removes the place and its branch. It returns the ref that keeps the branch; "" if another ref has all of it, or it
// is a result that was merged.
func (p *Place) Discard(ctx context.Context, merged string) (ref string, err error) {
	refs, err := p.repo.Refs(p.ref())
	head := refs[p.ref()]
	if err == nil {
		err = p.unused(ctx)
	}
	if err == nil && head != "" && head != merged {
		ref, err = p.drop(ctx, head)
	}
	if err == nil {
		err = p.remove(ctx, head)
	}
	if err != nil {
		return "", fmt.Errorf("discard the work tree of task %s: %w", p.Task, err)
	}
	return ref, nil
}

// remove removes the place, whose branch is at head.
func (p *Place) remove(ctx context.Context, head string) error {
	p.rec.Ready = false // if this is killed, and the task is tried again, it is made again
	if err := errors.Join(p.rec.save(), view.Remove(p.Dir)); err != nil {
		return err
	}
	gone := "delete " + held + p.Task + "\n"
	if head != "" {
		gone += "delete " + p.ref() + " " + head + "\n"
	}
	if _, err := p.repo.Do(ctx, git.Call{Dir: p.repo.Root, Stdin: []byte(gone)}, "update-ref", "--stdin"); err != nil {
		return err
	}
	left, err := filepath.Glob(p.beside("*"))
	for _, name := range append(left, p.rec.file) {
		err = errors.Join(err, os.RemoveAll(name))
	}
	return err
}

// Dropped is the prefix of refs that keep discarded branches.
const Dropped = "refs/codeloops/dropped/"

// drop keeps a commit at a ref and returns that; "" if another ref that stays has it already.
func (p *Place) drop(ctx context.Context, commit string) (ref string, err error) {
	ref = Dropped + p.Task + "-" + commit[:12]
	left, err := p.repo.Run(ctx, p.repo.Root, "rev-list", "--max-count=1", commit, "--not", "--exclude="+p.ref(), "--exclude="+held+"*", "--exclude="+ref, "--glob=refs/*")
	if err != nil || left == "" {
		return "", err
	}
	_, err = p.repo.Run(ctx, p.repo.Root, "update-ref", ref, commit)
	return ref, err
}
