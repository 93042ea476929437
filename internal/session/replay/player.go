package replay

import (
	"context"
	"iter"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/loop/progress"
	"codeloops/internal/session"
)

// Entries are the lines of a log, as [session.Reader.Entries] yields them.
type Entries = iter.Seq2[session.Entry, error]

// A Player plays a log. It is used once.
type Player struct {
	Sink      loop.Sink
	Until     int         // the last iteration to play; 0: all
	OnBadLine func(error) // is called for lines that cannot be read
	// Speed is how fast it is played: 1 as it was, 2 twice as fast; 0: without pauses.
	Speed float64

	state progress.State
}

// Play passes every event of the log to the sink, and before each iteration the events that
// its log leaves out. ended reports whether the session's end was played. The error is the
// sink's, the file's, or the cause of ctx.
func (p *Player) Play(ctx context.Context, entries Entries) (ended bool, err error) {
	for entry, err := range session.Sound(entries, p.OnBadLine) {
		if err != nil {
			return ended, err
		}
		if err := p.wait(ctx, entry.At.Time, entry.Event); err != nil {
			return ended, err
		}
		whole, isWhole := entry.Event.(loop.IterationFinished)
		if isWhole {
			if err := p.unsaid(entry.At, whole.Round); err != nil {
				return ended, err
			}
		}
		_ = p.state.Handle(entry.At, entry.Event) // never fails
		if err := p.Sink.Handle(entry.At, entry.Event); err != nil {
			return ended, err
		}
		if isWhole && whole.Round.Iteration == p.Until {
			return false, nil
		}
		_, ended = entry.Event.(loop.Finished)
	}
	return ended, nil
}

// wait waits for the time between two events, unless nobody worked in it.
func (p *Player) wait(ctx context.Context, at time.Time, next loop.Event) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if p.Speed == 0 || p.state.At.Time.IsZero() || idle(next) {
		return nil
	}
	select {
	case <-time.After(time.Duration(float64(at.Sub(p.state.At.Time)) / p.Speed)):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// idle reports whether nobody worked before an event: the run waited for a service, or was
// interrupted.
func idle(next loop.Event) bool {
	_, waited := next.(loop.WaitFinished)
	_, resumed := next.(loop.Resumed)
	return waited || resumed
}

// unsaid plays the events that a log may leave out before an iteration line, which holds all
// of them.
func (p *Player) unsaid(at loop.Stamp, r loop.Round) error {
	n := r.Iteration
	started := p.state.Told(n, loop.Start)
	var events []loop.Event
	add := func(there bool, s loop.State, e loop.Event) {
		if !there || p.state.Told(n, s) {
			return
		}
		if !started {
			events = append(events, loop.PhaseEntered{Iteration: n, State: s})
		}
		events = append(events, e)
	}
	if !started {
		events = append(events, loop.IterationStarted{Iteration: n})
	}
	add(true, loop.ActorExecuting, loop.ActorFinished{Iteration: n, Attempt: r.Attempt})
	add(true, loop.CapturingDiff, loop.DiffCaptured{Iteration: n, Change: r.Change})
	add(len(r.Checks) > 0, loop.Verifying, loop.ChecksFinished{Iteration: n, Checks: r.Checks})
	add(!r.Unjudged, loop.CriticEvaluating, loop.CriticFinished{Iteration: n, Review: r.Review})
	for _, e := range events {
		if err := p.Sink.Handle(loop.Stamp{Time: at.Time}, e); err != nil {
			return err
		}
	}
	return nil
}
