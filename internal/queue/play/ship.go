package play

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/queue"
	"codeloops/internal/queue/board"
	"codeloops/internal/queue/parcel"
	"codeloops/internal/run"
)

// A shipper sends what there is of a task, while it is worked on elsewhere than at home: at the end of
// each turn, before the next one begins, so that whoever takes the task over plays no turn again that
// has ended. It is a [loop.Sink].
type shipper struct {
	player *Player
	job    *board.Job
	packer *parcel.Packer
	remote *parcel.Remote // that gets the branch; nil: it is in the parcels
	dir    string

	task, branch string // a ref
	attempt      int
	was          queue.Parcels // of the attempt before
	sent         int
	packed       bool   // the next one, which could not be sent yet
	head, pushed string // the branch in it, and what the remote has of that

	session, log string    // of an earlier attempt; "" is none
	plan         *run.Plan // of this one; nil before there is one

	ctx context.Context //nolint:containedctx // a sink gets none
}

// wait is how long a run waits until what a turn came to is sent. Later it goes with the next one.
const wait = 15 * time.Second

// Handle sends what has been done by now. A run does not end for what cannot be sent.
func (s *shipper) Handle(_ loop.Stamp, e loop.Event) error {
	switch e.(type) {
	case loop.BaselineChecked, loop.DiffCaptured, loop.IterationFinished, loop.TurnFinished, loop.Noted:
	case loop.Started, loop.Resumed, loop.IterationStarted, loop.PhaseEntered, loop.Activity, loop.TurnStarted, loop.WaitStarted, loop.WaitFinished,
		loop.ActorFinished, loop.Inspected, loop.ChecksFinished, loop.ReviewRejected, loop.CriticFinished, loop.Warned, loop.Steered, loop.Finished:
		return nil
	}
	ctx, cancel := context.WithTimeout(s.ctx, wait)
	defer cancel()
	if err := s.ship(ctx, ""); err != nil && !errors.Is(err, queue.ErrStale) && s.ctx.Err() == nil {
		s.player.Tell(s.task, "what has been done could not be sent yet: "+err.Error())
	}
	return nil
}

// last sends the rest, with the branch at head if that is not "". It waits for a hub that is away, or can
// take nothing, unless ctx is done: then not for long.
func (s *shipper) last(ctx context.Context, head string) error {
	told := ""
	for {
		once, cancel := context.WithTimeout(context.WithoutCancel(ctx), wait)
		err := s.ship(once, head)
		cancel()
		if err == nil || ctx.Err() != nil || !s.packed || errors.Is(err, queue.ErrStale) {
			return err
		}
		if told != err.Error() {
			told = err.Error()
			s.player.Tell(s.task, told+"; it is tried again until it is sent")
		}
		time.Sleep(time.Second)
	}
}

func (s *shipper) ship(ctx context.Context, head string) error {
	if s.packed {
		if err := s.send(ctx); err != nil {
			return err
		}
	}
	m := parcel.Manifest{Task: s.task, Attempt: s.attempt, Branch: head}
	if head == "" {
		var err error
		if m.Branch, _, err = s.packer.Room.Commit(ctx, s.branch); err != nil {
			return err
		}
	}
	if s.plan != nil && s.plan.ID() != "" {
		s.session, s.log = s.plan.ID(), s.plan.Log()
	}
	fresh := false
	if s.session != "" {
		var err error
		if fresh, err = s.packer.Log(s.log); err != nil {
			return err
		}
	}
	if !fresh && head == "" {
		return nil
	}
	if s.packer.Settled().Size > 0 {
		m.Session = s.session
	}
	if err := s.packer.Pack(ctx, m, s.log, s.file()); err != nil {
		return err
	}
	s.packed, s.head = true, m.Branch
	return s.send(ctx)
}

func (s *shipper) file() string { return filepath.Join(s.dir, "parcel") }

// send sends what is packed, and has the record name it.
func (s *shipper) send(ctx context.Context) error {
	now := queue.Parcels{Attempt: s.attempt, Count: s.sent + 1}
	names := now.Names(s.task)
	drop, err := s.push(ctx)
	if err != nil {
		return fmt.Errorf("send what was done on task %s: %w", s.task, err)
	}
	store, err := s.player.parcels(ctx)
	if err == nil {
		err = store.Put(ctx, names[s.sent], s.file())
	}
	if err == nil {
		err = s.job.Change(ctx, func(r *queue.Record) error { r.Parcels = now; return nil })
	}
	if errors.Is(err, queue.ErrStale) {
		_ = store.Delete(context.WithoutCancel(ctx), names[s.sent]) // else it is swept
		drop()
	}
	if err != nil {
		return fmt.Errorf("send what was done on task %s: %w", s.task, err)
	}
	if s.packed = false; s.sent == 0 && s.was.Count > 0 { // the first one of an attempt stands for itself
		_ = store.Delete(ctx, s.was.Names(s.task)...) // else they are swept
	}
	s.sent++
	return nil
}

// push gives the remote the branch as the next parcel has it, at a ref that no other attempt moves. drop
// takes that back.
func (s *shipper) push(ctx context.Context) (drop func(), err error) {
	if s.remote == nil || s.head == "" || s.head == s.pushed {
		return func() {}, nil
	}
	ref := fmt.Sprintf("%s%d", parcel.RefsOf(s.task, s.attempt), s.sent+1)
	if err := s.packer.Room.Push(ctx, s.remote, map[string]string{ref: s.head}); err != nil {
		return nil, err
	}
	s.pushed = s.head
	return func() { _ = s.packer.Room.Drop(context.WithoutCancel(ctx), s.remote, ref) }, nil // nobody reads it
}
