package place

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

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
	if err == nil && head != "" && head != merged && !p.rec.Removing {
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
	p.rec.Removing = true
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

// elsewhere reports whether a ref that stays contains a commit.
func (p *Place) elsewhere(ctx context.Context, id string) (bool, error) {
	refs, err := p.repo.Run(ctx, p.repo.Root, "for-each-ref", "--format=%(refname)", "--contains", id)
	for ref := range strings.Lines(refs) {
		if ref = strings.TrimSpace(ref); ref != p.ref() && !strings.HasPrefix(ref, held) {
			return true, err
		}
	}
	return false, err
}

// Dropped is the prefix of refs that keep discarded branches.
const Dropped = "refs/codeloops/dropped/"

// drop keeps a commit at a new ref and returns that; "" if another ref has it already.
func (p *Place) drop(ctx context.Context, commit string) (string, error) {
	if kept, err := p.elsewhere(ctx, commit); err != nil || kept {
		return "", err
	}
	for n := 1; ; n++ {
		ref := Dropped + p.Task
		if n > 1 {
			ref = fmt.Sprintf("%s-%d", ref, n)
		}
		at, there, err := p.repo.Commit(ctx, ref)
		if err != nil || there && at == commit {
			return ref, err
		}
		if !there {
			_, err = p.repo.Run(ctx, p.repo.Root, "update-ref", ref, commit, "")
			return ref, err
		}
	}
}
