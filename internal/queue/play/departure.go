package play

import (
	"context"
	"errors"

	"codeloops/internal/queue"
	"codeloops/internal/queue/parcel"
	"codeloops/internal/session"
	"codeloops/internal/wording/hint"
)

// The names of a remote's refs for an attempt, before the attempt pushes any.
const (
	baseName   = "base"
	ontoName   = "onto"
	branchName = "branch" // earlier work at home
)

// A departure sends an attempt on another machine the commits at which it begins, and the earlier work.
type departure struct {
	*ground

	parcelDir *parcelDir
	record    *queue.Record
	answer    *answer
	over      *parcel.Remote // carries commits; nil is the hub
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
	if err := d.parcelDir.Set(ctx, map[string]string{baseRef: a.Base, ontoRef: a.Onto}); err != nil {
		return err
	}
	if d.over != nil {
		a.Remote = d.over.URL
		err = d.push(ctx, map[string]string{baseName: a.Base, ontoName: a.Onto})
	} else {
		err = d.bundle(ctx, have)
	}
	if err == nil && r.Parcels.Count == 0 {
		err = d.state(ctx)
	}
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

// push pushes commits to the remote.
func (d *departure) push(ctx context.Context, commits map[string]string) error {
	at, refs := parcel.RefsOf(d.record.Task.ID, d.record.Attempt), map[string]string{}
	for name, id := range commits {
		refs[at+name] = id
	}
	return d.parcelDir.Push(ctx, d.over, refs)
}

// bundle sends the task's base, unless the worker has it.
func (d *departure) bundle(ctx context.Context, have []string) error {
	have, err := d.parcelDir.Known(ctx, have)
	if err != nil {
		return err
	}
	file := d.parcelDir.file("base")
	if ok, err := d.parcelDir.Bundle(ctx, file, []string{baseRef, ontoRef}, have); err != nil || !ok {
		return err
	}
	d.answer.Bundle, err = d.send(ctx, queue.BasePart, file)
	return err
}

// send sends a file to the worker.
func (d *departure) send(ctx context.Context, part, file string) (name string, err error) {
	name = queue.PartFor(d.record.Task.ID, d.record.Attempt, part)
	return name, d.parcelDir.store.Put(ctx, name, file)
}

// state sends the earlier work at home, if there is any.
func (d *departure) state(ctx context.Context) (err error) {
	r, a := d.record, d.answer
	m := parcel.Manifest{Task: r.Task.ID, Attempt: r.Attempt}
	if m.Branch, _, err = d.site.Commit(ctx, r.Task.ID, "refs/heads/"+r.Task.Branch()); err != nil {
		return err
	}
	store, err := d.sessions(&r.Task)
	if err != nil {
		return err
	}
	packer := &parcel.Packer{Room: d.parcelDir.Room, Base: []string{a.Base, a.Onto}, Apart: d.over != nil}
	log := store.Path(r.Progress.Session)
	if r.Progress.Session != "" && session.Look(log).Err == nil {
		fresh, err := packer.Log(log)
		if err != nil {
			return err
		}
		if fresh {
			m.Session = r.Progress.Session
		}
	}
	if m.Branch == "" && m.Session == "" {
		return nil
	}
	if d.over != nil && m.Branch != "" {
		if err := d.push(ctx, map[string]string{branchName: m.Branch}); err != nil {
			return err
		}
	}
	file := d.parcelDir.file("state")
	if err := packer.Pack(ctx, m, log, file); err != nil {
		return err
	}
	a.State, err = d.send(ctx, queue.StatePart, file)
	return err
}
