package play

import (
	"context"
	"errors"

	"codeloops/internal/queue"
	"codeloops/internal/queue/merge"
	"codeloops/internal/queue/parcel"
	"codeloops/internal/queue/place"
	"codeloops/internal/session"
	"codeloops/internal/wording/hint"
)

// begins says where a task begins, and with which author.
func (g *ground) begins(ctx context.Context, seen merge.Position, r *queue.Record) (a answer, err error) {
	if shallow, err := g.repo.Run(ctx, g.repo.Root, "rev-parse", "--is-shallow-repository"); err != nil || shallow == "true" {
		return a, errors.Join(err, hint.Errorf("git fetch --unshallow, in "+g.repo.Root,
			"the repository is a shallow clone, and cannot be sent to another machine"))
	}
	if a.Onto, err = g.merger.Onto(ctx, seen); err != nil {
		return a, err
	}
	if a.Base = r.Base; a.Base == "" {
		a.Base = a.Onto
	}
	a.Name, _ = g.repo.Run(ctx, g.repo.Root, "config", "user.name") // without either, codeloops is the author
	a.Email, _ = g.repo.Run(ctx, g.repo.Root, "config", "user.email")
	return a, nil
}

// pack sends what an attempt on another machine lacks, and the earlier work; have are commits that it has.
func (g *ground) pack(ctx context.Context, d *parcelDir, r *queue.Record, a *answer, have []string) (err error) {
	if _, err := g.repo.Run(ctx, g.repo.Root, "update-ref", place.Held(r.Task.ID), a.Base); err != nil {
		return err
	}
	refs := map[string]string{parcel.Base: a.Base, parcel.Onto: a.Onto}
	if r.Parcel == 0 && r.Head != "" {
		refs[parcel.Branch] = r.Head
	}
	if err := d.Set(ctx, refs); err != nil {
		return err
	}
	if r.Parcel == 0 && r.Progress.Session != "" {
		store, err := g.player.sessions(g.repo.Root, &r.Task)
		if err != nil {
			return err
		}
		var settled session.Settled
		if log := store.Path(r.Progress.Session); settled.Read(log) == nil && settled.Size > 0 {
			if err := d.Pack(ctx, settled.Session, log); err != nil {
				return err
			}
		}
	}
	file := d.file("parcel")
	news, err := d.Bundle(ctx, file, have)
	if err == nil && news {
		a.Bundle = queue.ParcelTo(r.Task.ID, r.Attempt)
		err = d.store.Put(ctx, a.Bundle, file)
	}
	return err
}

// unhold removes the ref that keeps what the work on a task is based on.
func (g *ground) unhold(ctx context.Context, task string) error {
	_, err := g.repo.Run(ctx, g.repo.Root, "update-ref", "-d", place.Held(task))
	return err
}
