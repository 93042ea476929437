// Package play works on tasks: each in a session and a work tree of its own, whose result is merged.
package play

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/nats-io/nats.go"

	"codeloops/internal/config/host"
	"codeloops/internal/forge"
	"codeloops/internal/queue"
	"codeloops/internal/queue/board"
	"codeloops/internal/queue/git"
	"codeloops/internal/queue/hub"
	"codeloops/internal/queue/merge"
	"codeloops/internal/queue/parcel"
	"codeloops/internal/queue/place"
	"codeloops/internal/queue/source"
	"codeloops/internal/run/crew"
	"codeloops/internal/session"
	"codeloops/internal/wording/hint"
)

// A Player works on the tasks of one home. It is safe for concurrent use.
type Player struct {
	Host    *host.Host
	Version string // of codeloops, for logs
	Home    *hub.Home
	Starter git.Starter // of git, setup commands and checks on merges
	// Tell reports a sentence about a task to the user.
	Tell func(task, sentence string)

	// Request opens the pull request of a task with its result, or brings it up to date.
	Request func(ctx context.Context, r *queue.Record) (forge.Request, error)

	// Budgets returns the last known budgets, for while the hub is away.
	Budgets func() queue.Budgets
	// Board and Conn lead to the hub.
	Board *board.Board
	Conn  *nats.Conn
	// Replicas is how many servers of a cluster keep parcels; 0 is one.
	Replicas int

	// Killed is done when all agents are to be killed at once; nil is never.
	Killed context.Context //nolint:containedctx // it is no call's
}

// Play works on a task until its run has ended, and ends the job.
func (p *Player) Play(ctx context.Context, j *board.Job) error {
	move, err := p.attempt(ctx, j)
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, queue.ErrStale):
		return cause // the attempt no longer counts
	case errors.Is(err, queue.ErrStale):
		return err
	case err != nil:
		move, err = p.failed(ctx, err)
	}
	return errors.Join(j.End(ctx, move), err)
}

// failed returns what becomes of a task after the error of an attempt. unable says that others may be able to work on it.
func (p *Player) failed(ctx context.Context, err error) (move func(*queue.Record) error, unable error) {
	held, isHeld := errors.AsType[*session.HeldError](err)
	was, isMerged := errors.AsType[*mergedError](err)
	now := p.Board.Now()
	switch {
	case isHeld:
		return later(now, busyFor, held.Error()), nil
	case session.DiskFull(err):
		unable = fmt.Errorf("%w: its disk is full: %w", queue.ErrUnable, err)
		return later(now, fullFor, hint.Sentence(unable)), unable
	case errors.Is(err, source.ErrTaken):
		return to(queue.Cancelled, now, err.Error()), nil
	case errors.Is(err, errAway):
		return later(now, awayFor, hint.Sentence(err)), nil
	case isMerged:
		return func(r *queue.Record) error {
			r.Merge.Commit = was.commit
			return cmp.Or(r.Move(queue.Finished, now, ""), r.Move(queue.Merged, now, was.Error()))
		}, nil
	case crew.Elsewhere(err):
		return later(now, 0, hint.Sentence(err)), fmt.Errorf("%w: %w", queue.ErrLacks, err)
	case ctx.Err() != nil || board.Unreachable(err):
		return to(queue.Waiting, now, "interrupted"), nil //nolint:nilerr // it is in nobody's way
	case needsPerson(err):
		return to(queue.NeedsHuman, now, hint.Sentence(err)), nil
	}
	return to(queue.Failed, now, hint.Sentence(err)), nil
}

// needsPerson reports whether an error is one that a person must settle in the repository.
func needsPerson(err error) bool {
	return errors.Is(err, place.ErrUnjudged) || errors.Is(err, merge.ErrForeign) || errors.Is(err, merge.ErrRewritten)
}

// attempt makes an attempt, at home or away, and returns the change of the record.
func (p *Player) attempt(ctx context.Context, j *board.Job) (move func(*queue.Record) error, err error) {
	find := p.away
	if j.Task.Repository.At(p.Home.ID()) {
		find = p.atHome
	}
	a, err := find(ctx, j)
	if err != nil {
		return nil, err
	}
	if a.upload != nil {
		defer a.upload.parcelDir.close()
	}
	return a.make(ctx)
}

// Merge merges the result of a task, and ends the job.
func (p *Player) Merge(ctx context.Context, j *board.Job) error {
	g, err := p.ground(j.Task.Repository)
	var move func(*queue.Record) error
	if err == nil {
		move, err = g.merge(ctx, j)
	}
	switch {
	case ctx.Err() != nil && err != nil:
		if cause := context.Cause(ctx); errors.Is(cause, queue.ErrStale) {
			return cause
		}
		move = func(r *queue.Record) error { r.Taken = 0; return nil } // whoever asks next takes it
	case board.Unreachable(err) || errors.Is(err, queue.ErrStale):
		return err
	case session.DiskFull(err):
		return fmt.Errorf("%w: its disk is full: %w", queue.ErrUnable, err) // its message is delivered again
	case err != nil:
		move = to(queue.NeedsHuman, p.Board.Now(), "it could not be merged: "+hint.Sentence(err))
	}
	return j.End(ctx, move)
}

// Bring fetches what an attempt on another machine has sent of a task that nobody works on.
func (p *Player) Bring(ctx context.Context, r queue.Record) error {
	_, err := p.brought(ctx, &r)
	return err
}

// brought returns the repository of a task that nobody works on, which has all that was sent of it.
func (p *Player) brought(ctx context.Context, r *queue.Record) (g *ground, err error) {
	if g, err = p.ground(r.Task.Repository); err != nil {
		return nil, err
	}
	return g, g.bring(ctx, r, func(ctx context.Context, change func(*queue.Record) error) error {
		now, err := p.Board.Change(ctx, r.Task.ID, func(now *queue.Record) error {
			if now.State != r.State || now.Attempt != r.Attempt {
				return queue.ErrStale
			}
			return change(now)
		})
		if err == nil {
			r.Revision = now.Revision
		}
		return err
	})
}

// Take takes what waits for a branch into it; see [merge.Merger.Take].
func (p *Player) Take(ctx context.Context, r queue.Repository, target string) (tip string, err error) {
	g, err := p.ground(r)
	if err != nil {
		return "", err
	}
	return g.merger.Take(ctx, target, func(tree string) error { return held(p.Host, tree) })
}

// Has reports whether the target of a task has its merge, or its result, however that came there.
func (p *Player) Has(ctx context.Context, r *queue.Record) (bool, error) {
	g, err := p.ground(r.Task.Repository)
	if err != nil || r.Head == "" || r.Head == r.Base {
		return false, err
	}
	return g.repo.Contains(ctx, "refs/heads/"+r.Task.Target, cmp.Or(r.Merge.Commit, r.Head))
}

// Diff writes what the result of a task changes to a file, as git prints it.
func (p *Player) Diff(ctx context.Context, r *queue.Record, file string, colour bool) error {
	g, err := p.ground(r.Task.Repository)
	if err != nil {
		return err
	}
	args := []string{"diff", "--no-ext-diff", "--no-textconv", "--submodule=short", "--binary", r.Base + "..." + r.Head, "--"}
	if colour {
		args = slices.Insert(args, 1, "--color=always")
	}
	_, err = g.repo.Do(ctx, git.Call{Dir: g.repo.Root, Stdout: file}, args...)
	return err
}

// Dropped returns the refs that keep what was removed with tasks or taken out of a target, with their commits. It removes them
// if drop is set.
func (p *Player) Dropped(ctx context.Context, r queue.Repository, drop bool) (refs map[string]string, err error) {
	g, err := p.ground(r)
	if err != nil {
		return nil, err
	}
	if refs, err = g.repo.Refs(place.Dropped); err != nil || !drop {
		return refs, err
	}
	var gone []byte
	for ref, commit := range refs {
		gone = fmt.Appendf(gone, "delete %s %s\n", ref, commit)
	}
	_, err = g.repo.Do(ctx, git.Call{Dir: g.repo.Root, Stdin: gone}, "update-ref", "--stdin")
	return refs, err
}

// Discard removes the work tree and the branch of a task, and returns the ref that keeps its commits.
func (p *Player) Discard(ctx context.Context, r *queue.Record) (ref string, err error) {
	g, err := p.brought(ctx, r)
	if err != nil {
		return "", err
	}
	return g.discard(ctx, r.Task.ID, "")
}

// Tidy removes what killed processes of this home have left of tasks from other machines.
func (p *Player) Tidy() { p.tempDirs().tidy() }

// Sweep removes what killed processes have left, here and on the hub, that no task in the backlog names.
func (p *Player) Sweep(ctx context.Context, all queue.Backlog) error {
	p.Tidy()
	store, err := parcel.OpenStore(ctx, p.Conn, p.Replicas)
	if err != nil {
		return err
	}
	used := map[string]bool{}
	for id, r := range all {
		used[queue.ParcelOf(id, r.Parcel)] = true
	}
	return store.Sweep(ctx, func(name string) bool { return used[name] }, p.Board.Now().Add(-parcel.Sent))
}

// tempDirs is this home's directory for temporary directories.
func (p *Player) tempDirs() tempDirs { return tempDirs(p.Home.In("away")) }

// How long a task waits: busyFor while another process still uses its work tree, such as a suspended one; awayFor
// while its home cannot be reached.
const (
	busyFor = 10 * time.Second
	awayFor = 30 * time.Second
	fullFor = time.Second // another worker may have space; this one pauses for longer
)

// later offers a task again after a pause.
func later(now time.Time, pause time.Duration, why string) func(*queue.Record) error {
	return func(r *queue.Record) error { return r.Later(now, pause, why) }
}

// to changes a record's state.
func to(s queue.State, at time.Time, why string) func(*queue.Record) error {
	return func(r *queue.Record) error { return r.Move(s, at, why) }
}

// held returns who uses a work tree, as an error; nil is nobody.
func held(h *host.Host, dir string) error {
	if held := (session.WorkTree{Root: dir, GitDir: dir, Own: h.Data("locks")}).Held(); held != nil {
		return held
	}
	return nil
}

// within is the path of a task's directory in a work tree.
func within(root string, t *queue.Task) string { return filepath.Join(root, filepath.FromSlash(t.Dir)) }
