package play

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	remote    *parcel.Remote // carries the parcels; nil: the hub does
	task      string
	attempt   int
	branch    string // a ref
	tell      func(sentence string)

	session, log string // the current session; "" is none

	known  []string // commits that the recipient has: those that the attempt begins at
	tips   []string // and those that were sent
	sent   int      // parcels of this attempt
	unsent bool     // there is something new
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
	if err == nil {
		err = c.parcelDir.Forgotten(ctx) // this attempt sends all of it again
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
		if err == nil || ctx.Err() != nil || !c.unsent || errors.Is(err, queue.ErrStale) {
			return err
		}
		if told != err.Error() {
			told = err.Error()
			c.tell(told + "; trying again until it is sent")
		}
		time.Sleep(time.Second)
	}
}

// ship sends what is new since the last parcel.
func (c *upload) ship(ctx context.Context, head string) (err error) {
	fresh := false
	if c.session != "" {
		if fresh, err = c.packer.Session(ctx, c.session, c.log); err != nil {
			return err
		}
	}
	if c.unsent = c.unsent || fresh || head != ""; !c.unsent {
		return nil
	}
	if head == "" {
		if head, _, err = c.site.Commit(ctx, c.task, c.branch); err != nil {
			return err
		}
	}
	if head != "" {
		err = c.parcelDir.Set(ctx, map[string]string{parcel.Branch: head})
	}
	if err == nil {
		err = c.send(ctx)
	}
	if err != nil {
		return fmt.Errorf("send what was done on task %s: %w", c.task, err)
	}
	return nil
}

// send sends a parcel, and adds it to the record. The first one of an attempt replaces those of earlier attempts, as it
// is complete in itself.
func (c *upload) send(ctx context.Context) (err error) {
	now := queue.Parcels{Attempt: c.attempt, Count: c.sent + 1}
	name, tips := now.Names(c.task)[c.sent], c.tips
	if c.remote != nil {
		err = c.parcelDir.Push(ctx, c.remote, c.task, c.attempt)
	} else if tips, err = c.parcelDir.Bundle(ctx, c.parcelDir.file("parcel"), slices.Concat(c.known, c.tips)); err == nil && tips != nil {
		err = c.parcelDir.store.Put(ctx, name, c.parcelDir.file("parcel"))
	}
	if err != nil {
		return err
	}
	if c.unsent = false; c.remote == nil && tips == nil {
		return nil // it has it all
	}
	c.unsent = true
	var was queue.Parcels
	err = c.job.Change(ctx, func(r *queue.Record) error { was, r.Parcels = r.Parcels, now; return nil })
	if errors.Is(err, queue.ErrStale) {
		c.parcelDir.drop(context.WithoutCancel(ctx), name)
	}
	if err != nil {
		return err
	}
	if c.sent == 0 {
		c.parcelDir.drop(ctx, was.Leftovers(c.task, now.Attempt-1)...)
	}
	c.tips, c.unsent = tips, false
	c.sent++
	return nil
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
