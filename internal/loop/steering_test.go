package loop_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/strategy"
)

// A steered run is one whose user may give a command at each event.
type steered struct {
	*script
	steering loop.Steering
	at       func(*steered, loop.Event)
	briefs   []loop.Brief
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

func (s *steered) Judge(context.Context, loop.Case, loop.Watch) (loop.Review, error) {
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
		Strategy:  strategy.ActorCritic{}, Sink: s, Clock: s.clock, Steering: &s.steering,
	}
	if resumed {
		return l.Resume(ctx, loop.Session{}, s.journal.Clone())
	}
	return l.Run(ctx, loop.Session{Prompt: "do it"})
}

func newSteered() *steered {
	return &steered{script: &script{rnd: rand.New(rand.NewPCG(1, 1)), now: time.Unix(0, 0)}, left: 1 << 20}
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

func finished(e loop.Event, n int) bool {
	whole, ok := e.(loop.IterationFinished)
	return ok && whole.Round.Iteration == n
}

// TestSay: a message from the user goes to the actor's next turn, once.
func TestSay(t *testing.T) {
	t.Parallel()
	s := newSteered()
	s.at = func(s *steered, e loop.Event) {
		if _, judged := e.(loop.CriticFinished); judged && len(s.briefs) == 1 {
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
	if len(s.briefs) != 3 || s.briefs[0].Said != nil || !slices.Equal(s.briefs[1].Said, []string{"use B", "and C"}) || s.briefs[2].Said != nil {
		t.Errorf("%+v", s.briefs)
	}
}

// TestSaidBeforeTheCrash: a message for an interrupted turn is sent again when that turn is
// repeated, whatever the last event was.
func TestSaidBeforeTheCrash(t *testing.T) {
	t.Parallel()
	for left := 3; ; left++ {
		s := newSteered()
		s.left = left
		s.at = func(s *steered, e loop.Event) {
			if finished(e, 1) && len(s.briefs) == 1 {
				must(t, s.steering.Steer(loop.SteerSay, "use B"))
			}
		}
		_, err := s.play(t.Context(), false)
		if err == nil {
			return
		}
		played := len(s.briefs)
		said := slices.Contains(s.kinds(), loop.SteerSay)
		s.left, s.at, s.steering = 1<<20, nil, loop.Steering{}
		if _, err := s.play(t.Context(), true); err != nil {
			t.Fatalf("after %d events: %v", left, err)
		}
		again := 0
		for _, b := range s.briefs[played:] {
			again += len(b.Said)
		}
		over := slices.ContainsFunc(s.whole[:left], func(e loop.Event) bool {
			acted, ok := e.(loop.ActorFinished)
			return ok && acted.Iteration == 2
		})
		if want := said && !over; (again == 1) != want || again > 1 {
			t.Errorf("after %d events: sent %d times, want %v", left, again, want)
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

// hears reports whether the actor is told the user's message, at the end of its brief or instead of
// a review.
func hears(b loop.Brief, words string) bool {
	return slices.Contains(b.Said, words) || b.Previous != nil && b.Previous.Rule == loop.RuleUser && b.Previous.Verdict.Feedback == words
}
