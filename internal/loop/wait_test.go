package loop_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/strategy"
)

// A patient is an actor that waits before it works, and goes on only after the wait is recorded.
type patient struct {
	*play
	t     *testing.T
	waits []loop.Wait
}

func (p patient) Act(ctx context.Context, b loop.Brief, watch loop.Watch) (loop.Attempt, error) {
	for _, w := range p.waits {
		watch(loop.Notice{Wait: &w})
	}
	if len(p.waits) == 1 {
		select {
		case <-ctx.Done():
		case <-time.After(5 * time.Minute):
			p.t.Error("the wait is not cancelled")
		}
		return loop.Attempt{Turn: loop.Turn{Try: loop.Try{Ending: loop.EndInterrupted}}}, nil
	}
	return p.play.Act(ctx, b, watch)
}

func patience(p patient, sink loop.Sink) *loop.Loop {
	now := time.Unix(1000, 0)
	return &loop.Loop{
		Workplace: loop.Workplace{Actor: p, Tree: p, Critic: p, Gate: limit{}},
		Strategy:  strategy.ActorCritic{},
		Sink:      sink,
		Clock:     func() time.Time { now = now.Add(time.Minute); return now },
	}
}

// TestWaits: a wait of the actor appears in the events and in the phase that it belongs to.
func TestWaits(t *testing.T) {
	t.Parallel()
	begun := loop.Wait{Agent: loop.AgentRef{Agent: "claude"}, Cause: loop.EndRateLimited, Until: time.Unix(2000, 0)}
	over := begun
	over.Duration, over.End = time.Minute, loop.WaitOver
	p := patient{waits: []loop.Wait{begun, over}, play: &play{attempts: []loop.Attempt{{}}, reviews: []loop.Review{says(loop.Done, "")}}}
	if _, err := patience(p, p).Run(t.Context(), loop.Session{Prompt: "do it"}); err != nil {
		t.Fatal(err)
	}
	want := []loop.Event{
		loop.PhaseEntered{Iteration: 1, State: loop.ActorExecuting},
		loop.WaitStarted{Iteration: 1, Role: loop.RoleActor, Wait: begun},
		loop.WaitFinished{Iteration: 1, Role: loop.RoleActor, Wait: over},
	}
	if got := p.events[2:5]; !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	round := p.events[len(p.events)-2].(loop.IterationFinished).Round
	var waited []time.Duration
	for _, phase := range round.Trace {
		waited = append(waited, phase.Waited)
	}
	if want := []time.Duration{time.Minute, 0, 0}; !reflect.DeepEqual(waited, want) {
		t.Errorf("the phases waited %v, want %v", waited, want)
	}
}

// refusing is a sink that cannot record a wait.
type refusing struct{ loop.Sink }

func (r refusing) Handle(at loop.Stamp, e loop.Event) error {
	if _, waits := e.(loop.WaitStarted); waits {
		return errBroken
	}
	return r.Sink.Handle(at, e)
}

// TestUnrecordedWait: if a wait cannot be recorded, the run ends at once instead of waiting for
// hours.
func TestUnrecordedWait(t *testing.T) {
	t.Parallel()
	p := patient{t: t, waits: []loop.Wait{{}}, play: &play{}}
	out, err := patience(p, refusing{p}).Run(t.Context(), loop.Session{Prompt: "do it"})
	if !errors.Is(err, errBroken) || out.Reason != loop.StopInternal {
		t.Errorf("%+v, %v", out, err)
	}
}
