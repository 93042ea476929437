package run

import (
	"errors"
	"time"

	"codeloops/internal/loop"
)

// stall is how long a run that is to stop waits for a sink that hangs, such as the display of a
// frozen terminal.
const stall = 3 * time.Second

var errStalled = errors.New("nobody reads it")

// An audience passes every event on to sinks. None of them can end a run, or keep it from ending:
// the reader of a pipe may go away or hang, but the work goes on, and the log is complete.
type audience struct {
	sinks   []loop.Sink     // nil: it has failed, and may still be busy with its last event
	stopped <-chan struct{} // closed when the run is to stop
	dropped func(loop.Sink, error)
}

// Handle passes an event to every sink that has not failed.
func (a *audience) Handle(at loop.Stamp, e loop.Event) error {
	for i, s := range a.sinks {
		if s == nil {
			continue
		}
		if err := a.hand(s, at, e); err != nil {
			a.sinks[i] = nil
			if a.dropped != nil {
				a.dropped(s, err)
			}
		}
	}
	return nil
}

func (a *audience) hand(to loop.Sink, at loop.Stamp, e loop.Event) error {
	handled := make(chan error, 1)
	go func() { handled <- to.Handle(at, e) }()
	select {
	case err := <-handled:
		return err
	case <-a.stopped:
	}
	for range 10 { // after a suspend, the sink gets another chance
		select {
		case err := <-handled:
			return err
		case <-time.After(stall / 10):
		}
	}
	return errStalled
}
