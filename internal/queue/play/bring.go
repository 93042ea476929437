package play

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"

	"codeloops/internal/queue"
	"codeloops/internal/queue/parcel"
)

// bring brings the branch and the session of a task home, updates its record, and then removes what was sent. It
// can be repeated after an interruption.
func (g *ground) bring(ctx context.Context, r *queue.Record, change func(context.Context, func(*queue.Record) error) error) error {
	sent, at := r.Parcels, r.Remote
	if sent.Count == 0 && at == "" {
		return nil
	}
	d, err := g.player.parcelDir(ctx, "from."+rand.Text(), g.repo)
	if err == nil {
		defer d.close()
		err = g.takeIn(ctx, r, d)
	}
	if err != nil {
		return fmt.Errorf("bring task %s home: %w", r.Task.ID, err)
	}
	if err := change(ctx, func(now *queue.Record) error {
		if now.Parcels != sent || now.Remote != at {
			return queue.ErrStale
		}
		now.Parcels, now.Remote = queue.Parcels{}, ""
		return nil
	}); err != nil {
		return err
	}
	r.Parcels, r.Remote = queue.Parcels{}, ""
	d.drop(ctx, sent.Leftovers(r.Task.ID, r.Attempt)...)
	d.forget(ctx, g, r, at)
	return nil
}

// takeIn checks what was sent, and stores it.
func (g *ground) takeIn(ctx context.Context, r *queue.Record, d *parcelDir) error {
	if r.Parcels.Count == 0 {
		return nil
	}
	remote, err := g.recorded(ctx, r.Remote)
	if err != nil {
		return err
	}
	one, err := d.sent(ctx, r, remote)
	if err != nil {
		return err
	}
	if one == nil {
		one = &parcel.Parcel{}
	}
	if r.State == queue.Finished && cmp.Or(one.Branch, r.Base) != r.Head || r.Progress.Session != one.Session && one.Session != "" && r.Progress.Session != "" {
		return fmt.Errorf("%w: it has the branch at %q and session %q, and should have %q and %q",
			parcel.ErrWrong, one.Branch, one.Session, r.Head, r.Progress.Session)
	}
	return g.keep(ctx, r, one)
}

// keep stores what was sent.
func (g *ground) keep(ctx context.Context, r *queue.Record, one *parcel.Parcel) error {
	tree := g.site.Dir(r.Task.ID)
	if err := held(g.player.Host, tree); err != nil { // by an attempt here that was suspended
		return err
	}
	if err := g.site.Adopt(r.Task.ID, r.Base); err != nil {
		return err
	}
	if err := g.repo.Trees().Alone(func() error { return one.GiveBranch(ctx, g.repo.Root, r.Task.Branch()) }); err != nil {
		return err
	}
	store, err := g.sessions(&r.Task)
	if err != nil {
		return err
	}
	return one.Unpack(ctx, store, within(tree, &r.Task))
}
