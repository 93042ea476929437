package play

import (
	"context"
	"errors"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/queue"
	"codeloops/internal/run"
)

// A shipper is the [loop.Sink] that sends the work of an attempt away from home: after each turn and before the
// next, so that whoever takes the task over does not repeat it.
type shipper struct {
	cargo *cargo
	plan  *run.Plan

	ctx context.Context //nolint:containedctx // a sink gets none
}

// wait is how long a run waits for a parcel to be sent. After that it goes with the next one.
const wait = 15 * time.Second

// Handle sends what is new. A failure does not end the run.
func (s *shipper) Handle(_ loop.Stamp, e loop.Event) error {
	if id := s.plan.ID(); id != "" {
		s.cargo.session, s.cargo.log = id, s.plan.Log()
	}
	switch e.(type) {
	case loop.BaselineChecked, loop.DiffCaptured, loop.IterationFinished, loop.TurnFinished, loop.Noted:
	case loop.Started, loop.Resumed, loop.IterationStarted, loop.PhaseEntered, loop.Activity, loop.TurnStarted, loop.WaitStarted, loop.WaitFinished,
		loop.ActorFinished, loop.Inspected, loop.ChecksFinished, loop.ReviewRejected, loop.CriticFinished, loop.Warned, loop.Steered, loop.Finished:
		return nil
	}
	ctx, cancel := context.WithTimeout(s.ctx, wait)
	defer cancel()
	if err := s.cargo.ship(ctx, ""); err != nil && !errors.Is(err, queue.ErrStale) && s.ctx.Err() == nil {
		s.cargo.tell("what has been done could not be sent yet: " + err.Error())
	}
	return nil
}
