// Package merge merges finished branches into their target, one at a time, after checking each merge.
//
// It merges without a work tree; checks run in one of their own. The user's checkouts, indexes and HEADs are never
// touched: where the target is checked out, merges accumulate at a ref of ours until the user takes them. Commits
// that the user makes on the target meanwhile are merged into that first.
//
// If the user rewrites the target below what waits, or below what a task began at, nothing is merged: it would bring
// back what the user removed. See [ErrRewritten].
//
// A ref is updated only from the value that the merge was based on, so a merge is done completely or not at all,
// even when the process is killed. Whether it is done is read from git alone.
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
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// A Merger merges branches of a repository. It is safe for concurrent use, also by several processes.
type Merger struct {
	repo *git.Repo
	home string
}

// New returns the merger of a repository, with its work trees below dir.
func New(r *git.Repo, dir string) (*Merger, error) {
	home, err := r.Home(dir, "merges")
	return &Merger{repo: r, home: home}, err
}

// A Request says what to merge, and into what.
type Request struct {
	Target  string // a branch
	Head    string // a commit
	Base    string // the last commit of the target, or of what waited, that its branch began at or was merged with
	Message string
	Squash  bool // merge it as one commit on top of the target
	// Mark is a line that names what is merged, and ends the message of its merge, which was not made before Since.
	Mark  string
	Since time.Time
	// Amend returns the tree to merge instead of the merged one; nil leaves that as it is.
	Amend func(ctx context.Context, d *git.Draft, tree string) (string, error)
	// Check checks the merge in a work tree and returns what failed; nil is nothing. A nil Check checks nothing.
	Check func(ctx context.Context, dir string) (*Failure, error)
	// Tell reports what the merge waits for, and what the target has got meanwhile; nil reports nothing.
	Tell func(sentence string)
}

// A Failure is a check that failed.
type Failure struct {
	Check  string
	Output string // the end of it
}

// An Outcome is the outcome of a merge.
type Outcome string

// The outcomes of merges.
const (
	Merged   Outcome = "merged"
	Conflict Outcome = "conflict"
	Red      Outcome = "red" // a check failed
)

// A Result is the outcome of a merge, and what the user can do.
type Result struct {
	Outcome Outcome
	Ref     string // the ref that was merged into
	Tip     string // its commit
	Waits   bool   // whether the target does not have that yet

	// UserCommits is set where the problem lies between the user's own commits on the target and the merges that wait at
	// Ref. The other fields are then about these.
	UserCommits bool
	Files       []string // with conflicts
	Text        string   // git's messages about them
	Failure     *Failure // for Red
}

// rounds limits how often a merge starts over because the target has moved.
const rounds = 20

// Merge merges a commit into a target. If it is there already, it is only checked.
func (m *Merger) Merge(ctx context.Context, r Request) (res Result, err error) {
	defer func() {
		if err != nil {
			res, err = Result{}, fmt.Errorf("merge onto %s: %w", r.Target, err)
		}
	}()
	head, there, err := m.repo.Commit(ctx, r.Head)
	if err != nil {
		return Result{}, err
	}
	if !there {
		return Result{}, hint.Errorf("name the last commit of the branch", "%q is no commit", r.Head)
	}
	done, err := m.lock(ctx, &r)
	if err != nil {
		return Result{}, err
	}
	j := &job{Merger: m, Request: r, head: head, scratch: filepath.Join(m.room(r.Target), "merge-"+flat(r.Target))}
	res, err = j.merge(ctx)
	if res.Outcome == Merged {
		_ = m.repo.Join(ctx) // the next merge tries it again
	}
	return res, errors.Join(err, done())
}

// flat is a branch name as a directory name. Branches with the same one wait for each other.
func flat(branch string) string { return strings.ReplaceAll(branch, "/", "-") }

// room is the directory for merges into a target.
func (m *Merger) room(target string) string { return filepath.Join(m.home, flat(target)) }

// lock waits until nobody else merges into the target: of concurrent merges, all but one would be checked for
// nothing. The queue hands out one merge at a time, so the other one has lost its turn, and may stand still. In the end done
// removes the ref that has kept a merge.
func (m *Merger) lock(ctx context.Context, r *Request) (done func() error, err error) {
	room := m.room(r.Target)
	if err := os.MkdirAll(room, 0o700); err != nil {
		return nil, err
	}
	for told := false; ; told = true {
		lock, err := session.WorkTree{Root: room, GitDir: room}.Acquire("merge onto "+r.Target, time.Time{})
		held, is := errors.AsType[*session.HeldError](err)
		if !is {
			return func() error {
				_, err := m.repo.Run(context.WithoutCancel(ctx), m.repo.Root, "update-ref", "-d", pending+r.Target)
				return errors.Join(err, lock.Close())
			}, err
		}
		if !told && r.Tell != nil {
			r.Tell(fmt.Sprintf("its merge waits for process %d, which merges onto %s; if that is suspended, continue it or end it", held.PID, wording.Name(r.Target)))
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for process %d, which merges onto it: %w", held.PID, context.Cause(ctx))
		case <-time.After(100 * time.Millisecond):
		}
	}
}
