package play

import (
	"context"
	"errors"

	"codeloops/internal/queue"
	"codeloops/internal/queue/parcel"
	"codeloops/internal/session"
	"codeloops/internal/wording/hint"
)

// A departure sends an attempt on another machine the commits at which it begins, and the earlier work.
type departure struct {
	*ground

	parcelDir *parcelDir
	record    *queue.Record
	answer    *answer
	over      *parcel.Remote // carries it; nil is the hub
}

// begins says where a task begins, and with which author.
func (g *ground) begins(ctx context.Context, r *queue.Record) (a answer, err error) {
	if shallow, err := g.repo.Run(ctx, g.repo.Root, "rev-parse", "--is-shallow-repository"); err != nil || shallow == "true" {
		return a, errors.Join(err, hint.Errorf("git fetch --unshallow, in "+g.repo.Root,
			"the repository is a shallow clone, and cannot be sent to another machine"))
	}
	if a.Onto, err = g.merger.Onto(ctx, r.Task.Target); err != nil {
		return a, err
	}
	if a.Base = r.Base; a.Base == "" {
		a.Base = a.Onto
	}
	a.Name, _ = g.repo.Run(ctx, g.repo.Root, "config", "user.name") // without either, codeloops is the author
	a.Email, _ = g.repo.Run(ctx, g.repo.Root, "config", "user.email")
	return a, nil
}

// pack sends what the worker lacks; have are commits that it has.
func (d *departure) pack(ctx context.Context, have []string) (err error) {
	a, r := d.answer, d.record
	if err := d.through(ctx); err != nil {
		return err
	}
	if _, err := d.repo.Run(ctx, d.repo.Root, "update-ref", heldRef(r.Task.ID), a.Base); err != nil {
		return err
	}
	if err := d.parcelDir.Set(ctx, map[string]string{parcel.Base: a.Base, parcel.Onto: a.Onto}); err != nil {
		return err
	}
	if r.Parcels.Count == 0 {
		if err := d.state(ctx); err != nil {
			return err
		}
	}
	if d.over != nil {
		a.Remote = d.over.URL
		return d.parcelDir.Push(ctx, d.over, r.Task.ID, r.Attempt)
	}
	have, err = d.parcelDir.Known(ctx, have)
	if err != nil {
		return err
	}
	file := d.parcelDir.file("parcel")
	tips, err := d.parcelDir.Bundle(ctx, file, have)
	if err == nil && tips != nil {
		a.Bundle = queue.ParcelTo(r.Task.ID, r.Attempt)
		err = d.parcelDir.store.Put(ctx, a.Bundle, file)
	}
	return err
}

// heldRef keeps the commit that a task began at while the task is away: what comes back builds on it.
func heldRef(task string) string { return "refs/codeloops/base/" + task }

// unhold removes that ref.
func (g *ground) unhold(ctx context.Context, task string) error {
	_, err := g.repo.Run(ctx, g.repo.Root, "update-ref", "-d", heldRef(task))
	return err
}

// through chooses how the attempt's commits travel, and records it before anything is sent. A task whose work is
// on its way keeps its remote.
func (d *departure) through(ctx context.Context) (err error) {
	r := d.record
	if r.Parcels.Count > 0 {
		d.over, err = d.recorded(ctx, r.Remote)
		return err
	}
	if d.over, err = d.remote(ctx); err != nil {
		return err
	}
	url := ""
	if d.over != nil {
		url = d.over.URL
	}
	was, attempt := r.Remote, r.Attempt
	if was == url {
		return nil
	}
	if *r, err = d.player.Board.Change(ctx, r.Task.ID, func(now *queue.Record) error {
		if now.State != queue.Running || now.Attempt != attempt {
			return queue.ErrStale
		}
		now.Remote = url
		return nil
	}); err == nil {
		d.parcelDir.forget(ctx, d.ground, r, was)
	}
	return err
}

// state adds the earlier work at home, if there is any.
func (d *departure) state(ctx context.Context) error {
	r := d.record
	branch, there, err := d.site.Commit(ctx, r.Task.ID, "refs/heads/"+r.Task.Branch())
	if err == nil && there {
		err = d.parcelDir.Set(ctx, map[string]string{parcel.Branch: branch})
	}
	if err != nil {
		return err
	}
	store, err := d.sessions(&r.Task)
	if err != nil {
		return err
	}
	log := store.Path(r.Progress.Session)
	if r.Progress.Session != "" && session.Look(log).Err == nil {
		_, err = (&parcel.Packer{Room: d.parcelDir.Room}).Session(ctx, r.Progress.Session, log)
	}
	return err
}
