// Package merge brings finished branches onto their target, one at a time, each checked on the target
// as it is then.
//
// The merge is made without a work tree, and the checks see it in one of their own. No checkout, index
// or HEAD of the user's is touched: a target that is checked out anywhere stays where it is, and what
// is merged waits at a ref, from which later merges go on, until the user takes it. Commits that the
// user makes on the target meanwhile are merged into that first.
//
// A ref moves from the value that was merged onto and no other, so that whatever happens in between,
// be it a kill, leaves the merge done or not begun; and whether it is done is asked of git alone.
package merge

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"codeloops/internal/queue/git"
	"codeloops/internal/session"
	"codeloops/internal/wording/hint"
)

// A Merger merges branches of a repository. It is safe for concurrent use, also by several processes.
type Merger struct {
	repo *git.Repo
	home string
}

// New returns the merger of a repository, which makes work trees below a directory.
func New(r *git.Repo, dir string) (*Merger, error) {
	home, err := r.Home(dir, "merges")
	return &Merger{repo: r, home: home}, err
}

// A Request is what to merge, onto what.
type Request struct {
	Target  string // a branch
	Head    string // a commit
	Base    string // the one that its branch began at; "" is not known
	Message string
	// Bring copies files that git ignores into the work tree for checks; nil brings nothing.
	Bring func(ctx context.Context, dir string) (paths []string, err error)
	// Check looks at the merge in a work tree, and returns what failed in it, nil for nothing. Nil
	// checks nothing.
	Check func(ctx context.Context, dir string) (*Failure, error)
}

// A Failure is a check that failed.
type Failure struct {
	Check  string
	Output string // the end of it
}

// An Outcome is what came of a merge.
type Outcome string

// The outcomes of merges.
const (
	Merged   Outcome = "merged"
	Conflict Outcome = "conflict"
	Red      Outcome = "red"  // a check failed
	Back     Outcome = "back" // a merge would bring back what the target has no more
)

// A Result is what came of a merge, and what there is to do about it.
type Result struct {
	Outcome Outcome
	Ref     string // what was merged onto, with what is merged
	Tip     string // the commit that it is at
	Take    string // the command by which the user takes it into the target; "" where that has it

	// Own is set where the user's own commits on the target do not go with what waits at Ref, or that would
	// bring back what the target has no more: the rest is about these, and Take merges them by hand.
	Own     bool
	Files   []string // with conflicts
	Text    string   // what git says of them
	Failure *Failure // of the outcome Red

	// Removed are commits that the target was at, or had, and has no more. They are not merged; of the
	// outcome Back they are what a merge would bring back.
	Removed []Commit
	// Apart is set where the head stood on some: what has become of it since is merged, and its branch is
	// in no other.
	Apart bool
}

// rounds bound how often a merge begins again, as the target has moved on.
const rounds = 20

// Merge merges a commit onto a target. One that is there already is merged.
func (m *Merger) Merge(ctx context.Context, r Request) (Result, error) {
	res, err := m.merge(ctx, r)
	if err != nil {
		return Result{}, fmt.Errorf("merge onto %s: %w", r.Target, err)
	}
	return res, nil
}

func (m *Merger) merge(ctx context.Context, r Request) (Result, error) {
	if err := m.repo.CanMerge(ctx); err != nil {
		return Result{}, err
	}
	if _, err := m.look(ctx, r.Target); err != nil {
		return Result{}, err
	}
	head, there, err := m.repo.Commit(ctx, r.Head)
	if err != nil {
		return Result{}, err
	}
	if !there {
		return Result{}, hint.Errorf("name the last commit of the branch", "%q is no commit", r.Head)
	}
	lock, err := m.lock(ctx, r.Target)
	if err != nil {
		return Result{}, err
	}
	j := &job{Merger: m, Request: r, head: head, scratch: filepath.Join(m.room(r.Target), "merge-"+flat(r.Target))}
	res, err := j.merge(ctx)
	return res, errors.Join(err, lock.Close())
}

// flat is a branch's name as that of a directory. Those that are the same in it wait for each other.
func flat(branch string) string { return strings.ReplaceAll(branch, "/", "-") }

// room is the directory for merges onto a target.
func (m *Merger) room(target string) string { return filepath.Join(m.home, flat(target)) }

// lock waits until nobody else merges onto a target: all but one would have checked in vain.
func (m *Merger) lock(ctx context.Context, target string) (*session.Lock, error) {
	room := m.room(target)
	if err := os.MkdirAll(room, 0o700); err != nil {
		return nil, err
	}
	for {
		lock, err := session.WorkTree{Root: room, GitDir: room}.Acquire("merge onto "+target, time.Time{})
		held, is := errors.AsType[*session.HeldError](err)
		if !is {
			return lock, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for process %d, which merges onto it: %w", held.PID, context.Cause(ctx))
		case <-time.After(100 * time.Millisecond):
		}
	}
}
