package loop_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/strategy"
)

// A steered run is one whose user may give a command at each event.
type steered struct {
	*script
	drive    loop.Strategy
	steering loop.Steering
	at       func(*steered, loop.Event)
	briefs   []loop.Brief
	judged   []string                                    // the tasks that the critic was shown
	turn     func(context.Context, *steered) loop.Ending // nil means that the turn completes
	left     int                                         // events until the power fails
	whole    []loop.Event
	journal  loop.Journal
}

func (s *steered) Act(ctx context.Context, b loop.Brief, _ loop.Watch) (loop.Attempt, error) {
	s.briefs = append(s.briefs, b)
	s.state++
	ending := loop.EndCompleted
	if s.turn != nil {
		ending = s.turn(ctx, s)
	}
	return loop.Attempt{Turn: loop.Turn{Try: loop.Try{Ending: ending}}}, nil
}

func (s *steered) Judge(_ context.Context, c loop.Case, _ loop.Watch) (loop.Review, error) {
	s.judged = append(s.judged, c.Task)
	v := loop.Verdict{Decision: loop.Continue, Feedback: "more"}
	if len(s.briefs) >= 3 {
		v = loop.Verdict{Decision: loop.Done}
	}
	return loop.Review{Turn: loop.Turn{Try: loop.Try{Ending: loop.EndCompleted}}, Verdict: v}, nil
}

func (s *steered) Handle(at loop.Stamp, e loop.Event) error {
	if s.left == 0 {
		return errCrash
	}
	s.left--
	s.whole = append(s.whole, e)
	s.journal.Add(at, e)
	if s.at != nil {
		s.at(s, e)
	}
	return s.grammar.Handle(at, e)
}

func (s *steered) play(ctx context.Context, resumed bool) (loop.Outcome, error) {
	l := loop.Loop{
		Workplace: loop.Workplace{Actor: s, Tree: s, Critic: s, Gate: limit{}},
		Strategy:  s.drive, Sink: s, Clock: s.clock, Steering: &s.steering,
	}
	if resumed {
		return l.Resume(ctx, loop.Session{Prompt: "do it"}, s.journal.Clone())
	}
	return l.Run(ctx, loop.Session{Prompt: "do it"})
}

func newSteered() *steered {
	choice, _ := strategy.Read(loop.StrategyRef{})
	drive, _ := choice.Drive(nil)
	return &steered{script: &script{rnd: rand.New(rand.NewPCG(1, 1)), now: time.Unix(0, 0)}, drive: drive, left: 1 << 20}
}

// kinds returns the kinds of the commands that took effect, in order.
func (s *steered) kinds() (all []loop.SteerKind) {
	for _, e := range s.whole {
		if e, ok := e.(loop.Steered); ok {
			all = append(all, e.Kind)
		}
	}
	return all
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

// TestSay: what the user says is part of the task from then on, for both agents.
func TestSay(t *testing.T) {
	t.Parallel()
	s := newSteered()
	s.at = func(s *steered, e loop.Event) {
		if entered, ok := e.(loop.PhaseEntered); ok && entered.State == loop.CapturingDiff && len(s.briefs) == 1 {
			must(t, s.steering.Steer(loop.SteerSay, " use B\n"))
			must(t, s.steering.Steer(loop.SteerSay, "and C"))
			if err := s.steering.Steer(loop.SteerSay, " "); !errors.Is(err, loop.ErrNoWords) {
				t.Errorf("an empty message: %v", err)
			}
		}
	}
	out, err := s.play(t.Context(), false)
	if err != nil || out.Reason != loop.StopDone {
		t.Fatalf("%+v, %v", out, err)
	}
	if len(s.briefs) != 3 || len(s.judged) != 3 || s.briefs[0].Task != "do it" {
		t.Fatalf("%+v, %q", s.briefs, s.judged)
	}
	for _, task := range []string{s.judged[0], s.briefs[1].Task, s.judged[1], s.briefs[2].Task, s.judged[2]} {
		if !strings.HasSuffix(task, "\n\nuse B\n\nand C") {
			t.Errorf("%q", task)
		}
	}
	if err := s.steering.Steer(loop.SteerSay, "more"); !errors.Is(err, loop.ErrOver) {
		t.Errorf("after the end: %v", err)
	}
}

// TestSaidInTime: whatever the last event was when the user said something, and wherever the power
// failed after that, the actor is told before the run is done, unless the run did not hear it.
func TestSaidInTime(t *testing.T) {
	t.Parallel()
	for said := 1; ; said++ {
		for left := said; ; left++ {
			s, heard := newSteered(), false
			s.left = left
			s.at = func(s *steered, _ loop.Event) {
				if len(s.whole) == said {
					heard = s.steering.Steer(loop.SteerSay, "use B") == nil
				}
			}
			out, err := s.play(t.Context(), false)
			crashed := err != nil
			s.left = 1 << 20
			heard = heard && (!crashed || slices.Contains(s.kinds(), loop.SteerSay))
			if crashed {
				s.steering = loop.Steering{}
				if out, err = s.play(t.Context(), true); err != nil {
					t.Fatalf("said after %d events, resumed after %d: %v", said, left, err)
				}
			}
			told := slices.ContainsFunc(s.briefs, func(b loop.Brief) bool { return strings.HasSuffix(b.Task, "use B") })
			if out.Reason != loop.StopDone || told != heard || heard && !strings.HasSuffix(s.judged[len(s.judged)-1], "use B") {
				t.Fatalf("said after %d events, crashed after %d: heard %t, told %t, %+v", said, left, heard, told, out)
			}
			if s.steering.Untold() {
				t.Fatalf("said after %d events, crashed after %d: it counts as untold", said, left)
			}
			if !crashed {
				if len(s.whole) < said {
					return
				}
				break
			}
		}
	}
}

// TestPause: a paused run begins no turn until it is continued, and can be stopped while paused.
func TestPause(t *testing.T) {
	t.Parallel()
	for _, end := range []bool{false, true} {
		s := newSteered()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		s.at = func(s *steered, e loop.Event) {
			if _, acted := e.(loop.ActorFinished); acted && len(s.briefs) == 1 {
				must(t, s.steering.Steer(loop.SteerPause, ""))
			}
			if e, ok := e.(loop.Steered); ok && e.Kind == loop.SteerPause {
				if end {
					cancel()
				} else {
					must(t, s.steering.Steer(loop.SteerGoOn, ""))
				}
			}
		}
		out, err := s.play(ctx, false)
		want := loop.StopDone
		if end {
			want = loop.StopInterrupted
		}
		if err != nil || out.Reason != want {
			t.Errorf("%+v, %v", out, err)
		}
		if kinds := s.kinds(); !end && !slices.Equal(kinds, []loop.SteerKind{loop.SteerPause, loop.SteerGoOn}) {
			t.Errorf("%v", kinds)
		}
	}
}

// TestStopAfter: the current iteration is judged, and no other one begins.
func TestStopAfter(t *testing.T) {
	t.Parallel()
	s := newSteered()
	s.turn = func(context.Context, *steered) loop.Ending {
		must(t, s.steering.Steer(loop.SteerPause, ""))
		must(t, s.steering.Steer(loop.SteerStop, "")) // stopping lets a paused run go on
		return loop.EndCompleted
	}
	out, err := s.play(t.Context(), false)
	if err != nil || out.Reason != loop.StopInterrupted || out.Iterations != 1 || !slices.Equal(s.kinds(), []loop.SteerKind{loop.SteerStop}) {
		t.Errorf("%+v, %v, %v", out, err, s.kinds())
	}
	s.turn, s.steering = nil, loop.Steering{}
	if out, err = s.play(t.Context(), true); err != nil || out.Reason != loop.StopDone {
		t.Errorf("resumed: %+v, %v", out, err)
	}
}

// TestInterrupt: an interrupted turn ends without a review, and the next one begins with the user's
// message, even if the run was resumed in between.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	for left := 3; ; left++ {
		s := newSteered()
		s.left = left
		if err := s.steering.Steer(loop.SteerInterrupt, "no"); !errors.Is(err, loop.ErrNoTurn) {
			t.Fatalf("no turn is under way: %v", err)
		}
		s.turn = func(ctx context.Context, s *steered) loop.Ending {
			if len(s.briefs) > 1 {
				return loop.EndCompleted
			}
			must(t, s.steering.Steer(loop.SteerInterrupt, "not so"))
			<-ctx.Done()
			return loop.EndInterrupted
		}
		out, err := s.play(t.Context(), false)
		if err != nil && !errors.Is(err, errCrash) {
			t.Fatalf("after %d events: %v", left, err)
		}
		interrupted, crashed := slices.Contains(s.kinds(), loop.SteerInterrupt), err != nil
		if crashed {
			s.left = 1 << 20
			if out, err = s.play(t.Context(), true); err != nil {
				t.Fatalf("resumed after %d events: %v", left, err)
			}
		}
		if out.Reason != loop.StopDone || len(s.briefs) < 3 || interrupted && !hears(s.briefs[1], "not so") {
			t.Fatalf("after %d events: %+v, %+v", left, out, s.briefs)
		}
		if !crashed {
			if s.steering.Untold() {
				t.Error("the message was delivered, but counts as not delivered")
			}
			return
		}
	}
}

// TestInterruptAtTheEnd: if the run ends or is cancelled before the next turn, the message of an
// interrupt is in the log and counts as not delivered.
func TestInterruptAtTheEnd(t *testing.T) {
	t.Parallel()
	for _, cancels := range []bool{false, true} {
		s := newSteered()
		ctx, cancel := context.WithCancel(t.Context())
		s.turn = func(turn context.Context, s *steered) loop.Ending {
			must(t, s.steering.Steer(loop.SteerInterrupt, "not so"))
			<-turn.Done()
			must(t, s.steering.Steer(loop.SteerStop, ""))
			if cancels {
				cancel()
			}
			return loop.EndInterrupted
		}
		out, err := s.play(ctx, false)
		cancel()
		if err != nil || out.Reason != loop.StopInterrupted || !s.steering.Untold() || !slices.Contains(s.kinds(), loop.SteerInterrupt) {
			t.Errorf("cancelled: %t: %+v, %v, untold %t, %v", cancels, out, err, s.steering.Untold(), s.kinds())
		}
		s.turn, s.steering = nil, loop.Steering{}
		if out, err = s.play(t.Context(), true); err != nil || out.Reason != loop.StopDone || !hears(s.briefs[1], "not so") {
			t.Errorf("cancelled: %t, resumed: %+v, %v, %+v", cancels, out, err, s.briefs)
		}
	}
}

// hears reports whether the actor is told the user's message.
func hears(b loop.Brief, words string) bool { return strings.HasSuffix(b.Task, "\n\n"+words) }
