package play

import (
	"context"
	"errors"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/queue"
	"codeloops/internal/run"
)

// A shipper sends what there is of a task, while it is worked on elsewhere than at home: at the end of
// each turn, before the next one begins, so that whoever takes the task over plays no turn again that
// has ended. It is a [loop.Sink].
type shipper struct {
	cargo *cargo
	plan  *run.Plan

	ctx context.Context //nolint:containedctx // a sink gets none
}

// wait is how long a run waits until what a turn came to is sent. Later it goes with the next one.
const wait = 15 * time.Second

// Handle sends what has been done by now. A run does not end for what cannot be sent.
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
