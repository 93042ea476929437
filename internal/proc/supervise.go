package proc

import (
	"context"
	"time"
)

// A report is what a host says about a command that has ended. The Result lacks what the host
// does not know.
type report struct {
	Result
	Stopped   bool      // it was told to end before its own process had exited
	Survivors []Process // that could not be ended
	spent     bool      // the keeper cannot run another command
	err       error
}

// A supervisor enforces the limits of one running command.
type supervisor struct {
	cmd    Command
	child  *child
	io     *streams
	killed <-chan struct{}
	now    func() time.Time

	stop     Stop
	cancel   <-chan struct{} // nil once the command has been told to end
	deadline <-chan time.Time
	grace    <-chan time.Time
}

// supervise returns the report on the child and the reason why it was stopped.
func (s *supervisor) supervise(ctx context.Context) (report, Stop) {
	s.cancel = ctx.Done()
	if s.cmd.Timeout > 0 {
		timer := time.NewTimer(s.cmd.Timeout)
		defer timer.Stop()
		s.deadline = timer.C
	}
	var tick <-chan time.Time
	if s.cmd.Idle > 0 {
		ticker := time.NewTicker(min(max(s.cmd.Idle/10, time.Millisecond), time.Second))
		defer ticker.Stop()
		tick = ticker.C
	}
	for {
		select {
		case outlived := <-s.child.exited:
			s.io.cut(outlived)
			s.child.sweep()
		case rep := <-s.child.ended:
			s.io.cut(nil) // a no-op if exited came first
			if !rep.Stopped {
				s.stop = StopNone // it ended by itself before it was told to
			}
			return rep, s.stop
		case <-s.cancel:
			s.ask(StopCancelled)
		case <-s.deadline:
			s.ask(StopTimeout)
		case <-tick:
			s.measure()
		case <-s.io.full:
			s.measure()
		case <-s.grace:
			s.kill(s.stop)
		case <-s.killed:
			s.kill(StopCancelled)
		}
	}
}

// ask tells the command to end. Only the first call counts.
func (s *supervisor) ask(why Stop) {
	if s.stop != StopNone {
		return
	}
	s.stop = why
	s.cancel, s.deadline = nil, nil
	s.child.terminate()
	s.grace = time.After(s.cmd.grace())
}

func (s *supervisor) kill(why Stop) {
	if s.stop == StopNone {
		s.stop = why
	}
	s.cancel, s.deadline, s.grace, s.killed = nil, nil, nil, nil
	s.child.kill()
}

// measure checks the limits on output and on idle time.
func (s *supervisor) measure() {
	now := s.now() // before the streams are looked at: later output must not look older
	var largest int64
	var grown time.Time
	for _, o := range s.io.outputs() {
		size, last := o.size()
		largest = max(largest, size)
		if last.After(grown) {
			grown = last
		}
	}
	limit := s.cmd.MaxOutput
	switch {
	case limit > 0 && largest > 2*limit && s.stop == StopOutputLimit:
		s.kill(StopOutputLimit) // it keeps flooding during its grace period
	case limit > 0 && largest > limit:
		s.ask(StopOutputLimit)
	case s.cmd.Idle > 0 && now.Sub(grown) >= s.cmd.Idle:
		s.ask(StopIdle)
	}
}
