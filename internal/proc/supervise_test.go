package proc

import (
	"testing"
	"time"
)

// TestPrintsMeanwhile: a command that prints while its output is being measured is not
// idle, however long the measurement takes.
func TestPrintsMeanwhile(t *testing.T) {
	t.Parallel()
	var clock time.Time
	out := &stream{}
	out.now = func() time.Time { return clock }
	out.keep([]byte("begins\n"))
	s := supervisor{cmd: Command{Limits: Limits{Idle: time.Minute}}, io: &streams{stdout: out, stderr: out}, child: &child{}}
	s.now = func() time.Time {
		clock = clock.Add(time.Hour)
		out.keep([]byte("goes on\n"))
		return clock
	}
	s.measure() // panics if it tries to stop the missing child
}
