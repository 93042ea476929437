package play

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/nats-io/nuid"

	"codeloops/internal/proc"
	"codeloops/internal/queue"
	"codeloops/internal/queue/git"
	"codeloops/internal/queue/parcel"
	"codeloops/internal/wording/hint"
)

// The names of what a remote has for an attempt, before that sends anything.
const (
	baseName   = "base"
	ontoName   = "onto"
	branchName = "branch" // what there is of it at home
)

// remote is the git remote that the user has the tasks of a repository travel through; nil: the hub is it.
func (p *Player) remote(ctx context.Context, repo *git.Repo) (*parcel.Remote, error) {
	if p.Remote == "" {
		return nil, nil //nolint:nilnil // none is no error
	}
	address, err := repo.Run(ctx, repo.Root, "remote", "get-url", "--push", "--", p.Remote)
	if _, none := errors.AsType[*proc.ExitError](err); none {
		return nil, hint.Errorf("git remote add, in "+repo.Root+", or set queue.remote to the name of another one",
			"the repository has no git remote %q for its tasks to travel through", p.Remote)
	}
	if err != nil {
		return nil, err
	}
	r, err := parcel.RemoteAt(address)
	if err != nil {
		return nil, fmt.Errorf("the remote %q: %w", p.Remote, err)
	}
	return r, nil
}

// remoteAt is the one at a URL; nil where that is "".
func remoteAt(url string) (*parcel.Remote, error) {
	if url == "" {
		return nil, nil //nolint:nilnil // none is no error
	}
	return parcel.RemoteAt(url)
}

// recorded is the one at the URL of a record, with what the user of the repository goes there with.
func (p *Player) recorded(ctx context.Context, repo *git.Repo, url string) (*parcel.Remote, error) {
	if own, err := p.remote(ctx, repo); err == nil && own != nil && own.URL == url {
		return own, nil
	}
	return remoteAt(url)
}

// through is the remote for the next attempt at a task, and has the record name it before anything is
// there. A task of which something is on its way stays with what that travels through.
func (p *Player) through(ctx context.Context, repo *git.Repo, r *queue.Record) (remote *parcel.Remote, err error) {
	if r.Parcels.Count > 0 {
		return p.recorded(ctx, repo, r.Remote)
	}
	if remote, err = p.remote(ctx, repo); err != nil {
		return nil, err
	}
	url := ""
	if remote != nil {
		url = remote.URL
	}
	was := r.Remote
	if was == url {
		return remote, nil
	}
	attempt := r.Attempt
	if *r, err = p.Board.Change(ctx, r.Task.ID, func(now *queue.Record) error {
		if now.State != queue.Running || now.Attempt != attempt {
			return queue.ErrStale
		}
		now.Remote = url
		return nil
	}); err == nil {
		p.forget(ctx, r, repo, was)
	}
	return remote, err
}

// forget removes from the remote at a URL what it has of a task. What stays there does no harm.
func (p *Player) forget(ctx context.Context, r *queue.Record, repo *git.Repo, url string) {
	if url == "" {
		return
	}
	if err := p.forgotten(ctx, r, repo, url); err != nil && ctx.Err() == nil {
		p.Tell(r.Task.ID, fmt.Sprintf("refs below %s stay until you remove them: %s", parcel.Away(r.Task.ID), err))
	}
}

func (p *Player) forgotten(ctx context.Context, r *queue.Record, repo *git.Repo, url string) error {
	dir, done, err := p.scratch("forget." + nuid.Next())
	if err != nil {
		return err
	}
	defer done()
	remote, err := p.recorded(ctx, repo, url)
	if err != nil {
		return err
	}
	room, err := parcel.OpenRoom(ctx, filepath.Join(dir, "repo.git"), p.Starter, p.Host.Environ)
	if err != nil {
		return err
	}
	return room.Forget(ctx, remote, r.Task.ID, r.Attempt)
}
