package proc

import (
	"context"
	"slices"
	"time"
)

// A report is what a host says about a command of which nothing is left.
type report struct {
	exitCode  int
	signal    string
	stopped   bool // it was told to end before its own process had exited
	leftovers []Process
	err       error
}

// A supervisor keeps one running command within its bounds.
type supervisor struct {
	cmd    Command
	child  *child
	files  []*stream
	growth *growth
	killed <-chan struct{}
	now    func() time.Time

	stop     Stop
	cancel   <-chan struct{} // nil once the command has been told to end
	deadline <-chan time.Time
	grace    <-chan time.Time
	sizes    []int64
	grown    time.Time // when a file grew last
}

// supervise returns the report on child with the reason for which it was
// stopped.
func (s *supervisor) supervise(ctx context.Context) (report, Stop) {
	s.cancel = ctx.Done()
	if s.cmd.Timeout > 0 {
		timer := time.NewTimer(s.cmd.Timeout)
		defer timer.Stop()
		s.deadline = timer.C
	}
	var tick <-chan time.Time
	var written <-chan struct{}
	if s.cmd.MaxOutput > 0 {
		written = s.growth.sizes
	}
	if period := s.period(); period > 0 {
		ticker := time.NewTicker(period)
		defer ticker.Stop()
		tick = ticker.C
		s.sizes = make([]int64, len(s.files))
		s.grown = s.now()
	}
	for {
		select {
		case rep := <-s.child.ended:
			if !rep.stopped {
				s.stop = StopNone // it was over before it heard of it
			}
			return rep, s.stop
		case <-s.cancel:
			s.ask(StopCancelled)
		case <-s.deadline:
			s.ask(StopTimeout)
		case <-tick:
			s.measure()
		case <-written:
			s.measure()
		case <-s.grace:
			s.kill(s.stop)
		case <-s.killed:
			s.kill(StopCancelled)
		}
	}
}

// period is how often the files are measured at least; 0 is never.
func (s *supervisor) period() time.Duration {
	periods := make([]time.Duration, 0, 2)
	if s.cmd.MaxOutput > 0 {
		periods = append(periods, s.growth.period)
	}
	if s.cmd.Idle > 0 {
		periods = append(periods, min(max(s.cmd.Idle/10, time.Millisecond), time.Second))
	}
	if len(periods) == 0 {
		return 0
	}
	return slices.Min(periods)
}

// ask tells the command to end, once, whatever else comes to pass.
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

// measure looks at the sizes of the files.
func (s *supervisor) measure() {
	var largest int64
	for i, f := range s.files {
		size, err := f.size()
		if err != nil {
			continue // the capture at the end meets it again and reports it
		}
		if size != s.sizes[i] {
			s.sizes[i] = size
			s.grown = s.now()
		}
		largest = max(largest, size)
	}
	limit := s.cmd.MaxOutput
	switch {
	case limit > 0 && largest > 2*limit && s.stop == StopOutputLimit:
		s.kill(StopOutputLimit) // it uses its grace to fill the disk
	case limit > 0 && largest > limit:
		s.ask(StopOutputLimit)
	case s.cmd.Idle > 0 && s.now().Sub(s.grown) >= s.cmd.Idle:
		s.ask(StopIdle)
	}
}
