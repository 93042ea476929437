package play

import (
	"cmp"
	"context"
	"fmt"

	"codeloops/internal/queue"
	"codeloops/internal/queue/parcel"
	"codeloops/internal/queue/place"
)

// bring brings the branch and the session of a task home, updates its record, and then removes what was sent. It
// can be repeated after an interruption.
func (g *ground) bring(ctx context.Context, r *queue.Record, change func(context.Context, func(*queue.Record) error) error) error {
	sent := r.Parcel
	if sent == 0 {
		return nil
	}
	d, err := g.player.parcelDir(ctx, "from", g.repo.Objects())
	if err == nil {
		defer d.close()
		err = g.takeIn(ctx, r, d)
	}
	if err != nil {
		return fmt.Errorf("bring task %s home: %w", r.Task.ID, err)
	}
	if err := change(ctx, func(now *queue.Record) error {
		if now.Parcel != sent {
			return queue.ErrStale
		}
		now.Parcel = 0
		return nil
	}); err != nil {
		return err
	}
	r.Parcel = 0
	d.drop(ctx, queue.Leftovers(r.Task.ID, sent, r.Attempt)...)
	return nil
}

// takeIn checks what was sent, and stores it.
func (g *ground) takeIn(ctx context.Context, r *queue.Record, d *parcelDir) error {
	one, err := d.sent(ctx, r)
	if err != nil {
		return err
	}
	// Of an attempt that was lost before it sent its session, this is an earlier one.
	if r.State == queue.Finished && (cmp.Or(one.Branch, r.Base) != r.Head || one.Session != "" && one.Session != r.Progress.Session) {
		return fmt.Errorf("%w: it has the branch at %q and session %q, and should have %q and %q",
			parcel.ErrWrong, one.Branch, one.Session, r.Head, r.Progress.Session)
	}
	tree := g.site.Dir(r.Task.ID)
	if err := held(g.player.Host, tree); err != nil { // by an attempt here that was suspended
		return err
	}
	if one.Branch != "" {
		if err := d.Give(ctx, g.repo.Root, "+"+parcel.Branch+":"+place.Held(r.Task.ID)); err != nil {
			return err
		}
	}
	if err := g.site.Adopt(ctx, r.Task.ID, one.Branch); err != nil {
		return err
	}
	store, err := g.player.sessions(g.repo.Root, &r.Task)
	if err != nil {
		return err
	}
	return d.Unpack(ctx, one.Session, r.Task.ID, store, within(tree, &r.Task))
}
