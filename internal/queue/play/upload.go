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
	"codeloops/internal/run"
	"codeloops/internal/session"
)

// An upload is the work of an attempt away from home. It is sent as one parcel, which is replaced when there is more. It is the
// [loop.Sink] that sends it after each turn and before the next, so that whoever takes the task over does not repeat it.
type upload struct {
	job       *board.Job
	parcelDir *parcelDir
	attempt   int
	tell      func(sentence string)

	plan         *run.Plan       // of the run that it is the sink of
	ctx          context.Context //nolint:containedctx // a sink gets none
	session, log string          // the current session; "" is none
	settled      session.Settled // what there was of it the last time

	known  []string // commits that the recipient has: those that the attempt begins at
	unsent bool     // there is something new
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

// ship sends the work if there is something new.
func (c *upload) ship(ctx context.Context, head string) (err error) {
	was := c.settled.Size
	if c.session != "" {
		err = c.settled.Read(c.log)
	}
	if c.unsent = c.unsent || c.settled.Size > was || head != ""; !c.unsent || err != nil {
		return err
	}
	if c.settled.Size > 0 {
		err = c.parcelDir.Pack(ctx, c.settled.Session, c.log)
	}
	if err == nil && head != "" {
		err = c.parcelDir.Set(ctx, map[string]string{parcel.Branch: head})
	}
	if err == nil {
		err = c.send(ctx)
	}
	if err != nil {
		return fmt.Errorf("send what was done on task %s: %w", c.job.Of(), err)
	}
	return nil
}

// send sends all of it, which replaces what this attempt or earlier ones have sent.
func (c *upload) send(ctx context.Context) (err error) {
	if c.unsent, err = c.parcelDir.Bundle(ctx, c.parcelDir.file("parcel"), c.known); err != nil || !c.unsent {
		return err // or it has it all
	}
	name := queue.ParcelOf(c.job.Of(), c.attempt)
	if err := c.parcelDir.store.Put(ctx, name, c.parcelDir.file("parcel")); err != nil {
		return err
	}
	was := 0
	err = c.job.Change(ctx, func(r *queue.Record) error { was, r.Parcel = r.Parcel, c.attempt; return nil })
	if err != nil {
		return err
	}
	if was != c.attempt {
		c.parcelDir.drop(ctx, queue.Leftovers(c.job.Of(), was, c.attempt-1)...)
	}
	c.unsent = false
	return nil
}

// wait is how long a run waits for a parcel to be sent. After that it goes with the next one.
const wait = 15 * time.Second

// Handle sends what is new. A failure does not end the run.
func (c *upload) Handle(_ loop.Stamp, e loop.Event) error {
	if id := c.plan.ID(); id != "" && id != c.session {
		c.session, c.log, c.settled = id, c.plan.Log(), session.Settled{}
	}
	switch e.(type) { //nolint:gochecksumtype // the others leave nothing to send
	case loop.BaselineChecked, loop.DiffCaptured, loop.IterationFinished, loop.TurnFinished, loop.Noted:
	default:
		return nil
	}
	ctx, cancel := context.WithTimeout(c.ctx, wait)
	defer cancel()
	if err := c.ship(ctx, ""); err != nil && !errors.Is(err, queue.ErrStale) && c.ctx.Err() == nil {
		c.tell("what has been done could not be sent yet: " + err.Error())
	}
	return nil
}
