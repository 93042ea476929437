package play

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/nats-io/nuid"

	"codeloops/internal/diff/restore"
	"codeloops/internal/queue"
	"codeloops/internal/queue/git"
	"codeloops/internal/queue/parcel"
	"codeloops/internal/queue/place"
	"codeloops/internal/run/worktree"
	"codeloops/internal/session"
)

// Bring brings home what an attempt on another machine has sent of a task with which nobody is at work.
func (p *Player) Bring(ctx context.Context, r queue.Record) error {
	repo, site, _, err := p.in(ctx, r.Task.Repository)
	if err != nil {
		return err
	}
	return p.bring(ctx, &r, repo, site, func(change func(*queue.Record) error) error {
		_, err := p.Board.Change(ctx, r.Task.ID, func(now *queue.Record) error {
			if now.State != r.State || now.Attempt != r.Attempt {
				return queue.ErrStale
			}
			return change(now)
		})
		return err
	})
}

// bring brings the branch and the session of a task home, and has its record say so; what was sent is
// removed then. It may be done again wherever it was cut off.
func (p *Player) bring(ctx context.Context, r *queue.Record, repo *git.Repo, site *place.Site, change func(func(*queue.Record) error) error) error {
	sent, at := r.Parcels, r.Remote
	if sent.Count == 0 && at == "" {
		return nil
	}
	if sent.Count > 0 {
		if err := p.takeIn(ctx, r, repo, site); err != nil {
			return fmt.Errorf("bring task %s home: %w", r.Task.ID, err)
		}
	}
	if err := change(func(now *queue.Record) error {
		if now.Parcels != sent || now.Remote != at {
			return queue.ErrStale
		}
		now.Parcels, now.Remote = queue.Parcels{}, ""
		return nil
	}); err != nil {
		return err
	}
	r.Parcels, r.Remote = queue.Parcels{}, ""
	store, err := p.parcels(ctx)
	if err == nil {
		_ = store.Delete(ctx, sent.Names(r.Task.ID)...) // else it is swept
	}
	p.forget(ctx, r, repo, at)
	return nil
}

// takeIn looks at what was sent, and puts it where it belongs.
func (p *Player) takeIn(ctx context.Context, r *queue.Record, repo *git.Repo, site *place.Site) error {
	remote, err := p.recorded(ctx, repo, r.Remote)
	if err != nil {
		return err
	}
	dir, done, err := p.scratch("from." + nuid.Next())
	if err != nil {
		return err
	}
	defer done()
	room, err := parcel.OpenRoom(ctx, filepath.Join(dir, "repo.git"), p.Starter, p.Host.Environ, filepath.Join(repo.CommonDir, "objects"))
	if err != nil {
		return err
	}
	one, err := p.openSent(ctx, room, dir, r, remote)
	if err != nil {
		return err
	}
	if r.State == queue.Finished && one.Branch != r.Head || r.Progress.Session != one.Session && one.Session != "" && r.Progress.Session != "" {
		return fmt.Errorf("%w: it has the branch at %q and session %q, and should have %q and %q",
			parcel.ErrWrong, one.Branch, one.Session, r.Head, r.Progress.Session)
	}
	return p.keep(ctx, r, repo, site, one)
}

// keep puts what was sent where it belongs.
func (p *Player) keep(ctx context.Context, r *queue.Record, repo *git.Repo, site *place.Site, one *parcel.Parcel) error {
	if err := p.held(site.Dir(r.Task.ID)); err != nil { // by an attempt here that was stopped
		return err
	}
	if err := site.Adopt(r.Task.ID, r.Base); err != nil {
		return err
	}
	if err := repo.Alone(func() error { return one.GiveBranch(ctx, repo.Root, r.Task.Branch()) }); err != nil {
		return err
	}
	logs, err := p.logsAt(&r.Task, repo.Root)
	if err != nil {
		return err
	}
	store, err := session.NewStore(logs)
	if err != nil {
		return err
	}
	return one.Unpack(ctx, store, site.Dir(r.Task.ID))
}

// openSent takes what an attempt has sent of a task into a room; nil where there is nothing.
func (p *Player) openSent(ctx context.Context, room *parcel.Room, dir string, r *queue.Record, remote *parcel.Remote) (*parcel.Parcel, error) {
	if remote != nil && r.Parcels.Count > 0 {
		if err := room.Fetch(ctx, remote, r.Task.ID, r.Parcels.Attempt); err != nil {
			return nil, err
		}
	}
	return p.open(ctx, room, dir, r.Task.ID, r.Parcels.Names(r.Task.ID))
}

// open takes the parcels of a task into a room, one behind the other; nil where there is none.
func (p *Player) open(ctx context.Context, room *parcel.Room, dir, task string, names []string) (last *parcel.Parcel, err error) {
	store, err := p.parcels(ctx)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "parcel")
	for _, name := range names {
		if err := store.Get(ctx, name, file); err != nil {
			return nil, err
		}
		if last, err = room.Open(ctx, file, task); err != nil {
			return nil, err
		}
	}
	return last, nil
}

// restore makes a work tree what it is in the last checkpoint of a session.
func (p *Player) restore(ctx context.Context, dir, logs, id string) error {
	store, err := session.NewStore(logs)
	if err != nil {
		return err
	}
	var settled session.Settled
	if err := settled.Read(store.Path(id)); err != nil || settled.Checkpoint == "" {
		return err
	}
	h := *p.Host
	h.Dir = dir
	tree, err := worktree.Open(ctx, &h, dir, func(string) {})
	if err != nil {
		return err
	}
	defer tree.Close() //nolint:errcheck // it was only read
	shared, err := tree.RecallFrom(ctx, store, settled.Session.Checkpoints)
	if err != nil {
		return err
	}
	defer shared.Close() //nolint:errcheck // the system takes it back in any case
	state, err := tree.Recall(ctx, settled.Checkpoint)
	if err != nil {
		return err
	}
	way, err := tree.Way(ctx, state)
	if err != nil || len(way.Changes) == 0 {
		return err
	}
	kept, done, err := p.scratch("kept." + nuid.Next()) // nobody wants back what was there
	if err != nil {
		return err
	}
	defer done()
	keep := &restore.Keep{Dir: kept, Now: h.Now}
	gone, err := keep.Restore(ctx, tree.Root(), restore.Plan{Title: "the last checkpoint of session " + id, Changes: way.Changes})
	if err == nil && len(gone.Stayed) > 0 {
		err = errors.New("something else came up in the work tree: " + worktree.Names(gone.Stayed))
	}
	return err
}
