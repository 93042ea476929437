package play

import (
	"context"
	"errors"
	"fmt"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/queue"
	"codeloops/internal/queue/board"
	"codeloops/internal/queue/parcel"
	"codeloops/internal/queue/place"
	"codeloops/internal/run"
	"codeloops/internal/session"
)

// An upload is the work of an attempt away from home. It is sent in parcels, each with what is new since the last
// one.
type upload struct {
	job       *board.Job
	parcelDir *parcelDir
	site      *place.Site
	packer    *parcel.Packer
	remote    *parcel.Remote // gets the branch; nil: parcels contain it
	branch    string         // a ref
	tell      func(sentence string)

	session, log string // the current session; "" is none

	sent   int             // parcels of this attempt
	next   parcel.Manifest // the parcel packed last
	packed bool            // it could not be sent yet
	pushed string          // the commit that the remote has
}

// goOn continues from the branch and session of earlier attempts, with the session moved to a new work tree.
func (c *upload) goOn(ctx context.Context, one *parcel.Parcel, store *session.Store, workTree string) (err error) {
	if one.Branch != "" {
		err = c.parcelDir.Set(ctx, map[string]string{c.branch: one.Branch})
	}
	if err == nil {
		err = one.Unpack(ctx, store, workTree)
	}
	if err == nil && one.Session != "" {
		c.session, c.log = one.Session, store.Path(one.Session)
	}
	return err
}

// last sends the rest, and the branch at head unless that is "". It waits while the hub is away or takes nothing,
// but only briefly once ctx is done.
func (c *upload) last(ctx context.Context, head string) error {
	told := ""
	for {
		once, cancel := context.WithTimeout(context.WithoutCancel(ctx), wait)
		err := c.ship(once, head)
		cancel()
		if err == nil || ctx.Err() != nil || !c.packed || errors.Is(err, queue.ErrStale) {
			return err
		}
		if told != err.Error() {
			told = err.Error()
			c.tell(told + "; trying again until it is sent")
		}
		time.Sleep(time.Second)
	}
}

// ship sends what is new since the last parcel, after any parcel that could not be sent.
func (c *upload) ship(ctx context.Context, head string) error {
	if c.packed {
		if err := c.send(ctx); err != nil {
			return err
		}
	}
	c.next = parcel.Manifest{Task: c.next.Task, Attempt: c.next.Attempt, Branch: head}
	if head == "" {
		var err error
		if c.next.Branch, _, err = c.site.Commit(ctx, c.next.Task, c.branch); err != nil {
			return err
		}
	}
	fresh := false
	if c.session != "" {
		var err error
		if fresh, err = c.packer.Log(c.log); err != nil {
			return err
		}
	}
	if !fresh && head == "" {
		return nil
	}
	if c.packer.Settled().Size > 0 {
		c.next.Session = c.session
	}
	if err := c.packer.Pack(ctx, c.next, c.log, c.file()); err != nil {
		return err
	}
	c.packed = true
	return c.send(ctx)
}

func (c *upload) file() string { return c.parcelDir.file("parcel") }

// send sends the packed parcel, and adds it to the record. The first one of an attempt replaces those of earlier
// attempts, as it is complete in itself.
func (c *upload) send(ctx context.Context) error {
	task, now := c.next.Task, queue.Parcels{Attempt: c.next.Attempt, Count: c.sent + 1}
	drop, err := c.push(ctx)
	if err != nil {
		return fmt.Errorf("send what was done on task %s: %w", task, err)
	}
	name := now.Names(task)[c.sent]
	err = c.parcelDir.store.Put(ctx, name, c.file())
	var was queue.Parcels
	if err == nil {
		err = c.job.Change(ctx, func(r *queue.Record) error { was, r.Parcels = r.Parcels, now; return nil })
	}
	if errors.Is(err, queue.ErrStale) {
		c.parcelDir.drop(context.WithoutCancel(ctx), name)
		drop()
	}
	if err != nil {
		return fmt.Errorf("send what was done on task %s: %w", task, err)
	}
	if c.packed = false; c.sent == 0 {
		c.parcelDir.drop(ctx, was.Leftovers(task, now.Attempt-1)...)
	}
	c.sent++
	return nil
}

// push pushes the branch for the next parcel, to a ref that only this attempt uses. drop undoes it.
func (c *upload) push(ctx context.Context) (drop func(), err error) {
	head := c.next.Branch
	if c.remote == nil || head == "" || head == c.pushed {
		return func() {}, nil
	}
	ref := fmt.Sprintf("%s%d", parcel.RefsOf(c.next.Task, c.next.Attempt), c.sent+1)
	if err := c.parcelDir.Push(ctx, c.remote, map[string]string{ref: head}); err != nil {
		return nil, err
	}
	c.pushed = head
	return func() { _ = c.parcelDir.Drop(context.WithoutCancel(ctx), c.remote, ref) }, nil // an unused ref does no harm
}

// A shipper is the [loop.Sink] that sends the work of an attempt away from home: after each turn and before the
// next, so that whoever takes the task over does not repeat it.
type shipper struct {
	upload *upload
	plan   *run.Plan

	ctx context.Context //nolint:containedctx // a sink gets none
}

// wait is how long a run waits for a parcel to be sent. After that it goes with the next one.
const wait = 15 * time.Second

// Handle sends what is new. A failure does not end the run.
func (s *shipper) Handle(_ loop.Stamp, e loop.Event) error {
	if id := s.plan.ID(); id != "" {
		s.upload.session, s.upload.log = id, s.plan.Log()
	}
	switch e.(type) {
	case loop.BaselineChecked, loop.DiffCaptured, loop.IterationFinished, loop.TurnFinished, loop.Noted:
	case loop.Started, loop.Resumed, loop.IterationStarted, loop.PhaseEntered, loop.Activity, loop.TurnStarted, loop.WaitStarted, loop.WaitFinished,
		loop.ActorFinished, loop.Inspected, loop.ChecksFinished, loop.ReviewRejected, loop.CriticFinished, loop.Warned, loop.Steered, loop.Finished:
		return nil
	}
	ctx, cancel := context.WithTimeout(s.ctx, wait)
	defer cancel()
	if err := s.upload.ship(ctx, ""); err != nil && !errors.Is(err, queue.ErrStale) && s.ctx.Err() == nil {
		s.upload.tell("what has been done could not be sent yet: " + err.Error())
	}
	return nil
}
