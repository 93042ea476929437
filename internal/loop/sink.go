package loop

import "time"

// A Stamp is the place of an event in its run. Only the loop creates stamps.
type Stamp struct {
	Seq  int // from 1
	Time time.Time
	Step Step // the step that the event belongs to; "": the session
}

// A Sink consumes the events of a run in order. The loop never calls it concurrently. An error
// ends the run: a fact that cannot be recorded must not be acted on. A sink may keep what it gets
// but must not change it.
type Sink interface {
	Handle(Stamp, Event) error
}

// Tee returns a sink that passes every event to each of the sinks in turn and stops at the first
// error.
func Tee(sinks ...Sink) Sink { return tee(sinks) }

type tee []Sink

func (t tee) Handle(at Stamp, e Event) error {
	for _, s := range t {
		if err := s.Handle(at, e); err != nil {
			return err
		}
	}
	return nil
}
