package loop_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/loop/looptest"
	"codeloops/internal/loop/progress"
)

// debate is a strategy: a planner, then rounds of debaters that speak at the same time.
type debate struct{ rounds int }

func (d debate) Run(ctx context.Context, steps *loop.Steps) (loop.Outcome, error) {
	plan, err := steps.Turns(ctx, loop.Call{Step: "planner", Role: "planner", Prompt: "plan it"})
	said := ""
	for n := 1; err == nil && n <= d.rounds; n++ {
		var calls []loop.Call
		for _, who := range []loop.Role{"debater_1", "debater_2", "debater_3"} {
			step := loop.Step(who).Sub(fmt.Sprintf("round_%d", n))
			calls = append(calls, loop.Call{Step: step, Role: who, Prompt: plan[0].Text + said})
		}
		var replies []loop.Reply
		replies, err = steps.Turns(ctx, calls...)
		for _, r := range replies {
			said = fmt.Sprint(said, " ", r.Text)
		}
	}
	return loop.Outcome{Reason: loop.StopDone, Summary: said}, err
}

// stage is the player and the sink of a debate. Debaters wait for each other, so that their turns
// do overlap.
type stage struct {
	mu      sync.Mutex
	calls   []loop.Call
	fails   map[loop.Step]loop.Ending
	left    int // events until the power fails; negative means never
	crowd   sync.WaitGroup
	meet    int
	heard   atomic.Int64 // events
	stamps  []loop.Stamp
	events  []loop.Event
	grammar looptest.Grammar
	journal loop.Journal
}

func (s *stage) Play(_ context.Context, c loop.Call, watch loop.Watch) (loop.Reply, error) {
	s.mu.Lock()
	s.calls = append(s.calls, c)
	s.mu.Unlock()
	if s.meet > 0 && c.Role != "planner" {
		s.crowd.Done()
		s.crowd.Wait()
	}
	for i := range 3 {
		watch(loop.Notice{Kind: loop.NoticeOutput, Stream: "stdout", Text: fmt.Sprint(c.Step, " ", i)})
	}
	watch(loop.Notice{Wait: &loop.Wait{Cause: loop.EndOverloaded}})
	watch(loop.Notice{Wait: &loop.Wait{Cause: loop.EndOverloaded, Duration: time.Second, End: loop.WaitOver}})
	ending := loop.EndCompleted
	if e, ok := s.fails[c.Step]; ok {
		ending = e
	}
	return loop.Reply{Turn: loop.Turn{Try: loop.Try{Ending: ending, Usage: loop.Usage{CostUSD: new(1.0)}}}, Text: "says " + string(c.Step)}, nil
}

func (s *stage) Handle(at loop.Stamp, e loop.Event) error {
	if s.left == 0 {
		return errCrash
	}
	s.left--
	s.heard.Add(1)
	s.stamps, s.events = append(s.stamps, at), append(s.events, e)
	s.journal.Add(at, e)
	return s.grammar.Handle(at, e)
}

func (s *stage) loop() *loop.Loop {
	return &loop.Loop{
		Workplace: loop.Workplace{Player: s, Gate: limit{}},
		Strategy:  debate{2},
		Sink:      s,
		Clock:     func() time.Time { return time.Unix(s.heard.Load(), 0) },
	}
}

const debated = " says debater_1.round_1 says debater_2.round_1 says debater_3.round_1" +
	" says debater_1.round_2 says debater_2.round_2 says debater_3.round_2"

// TestTurnsAtTheSameTime: parallel turns do not mix their output, waits or usage. Each event has
// the step of its turn, and the events of a step are in order.
func TestTurnsAtTheSameTime(t *testing.T) {
	t.Parallel()
	s := &stage{left: -1, meet: 3}
	s.crowd.Add(3)
	l := s.loop()
	l.Strategy = debate{1}
	out, err := l.Run(t.Context(), loop.Session{ID: "s"})
	if err == nil {
		err = s.grammar.End()
	}
	if err != nil || out.Reason != loop.StopDone || len(s.calls) != 4 {
		t.Fatalf("%+v, %v after %d turns", out, err, len(s.calls))
	}
	told := map[loop.Step][]string{}
	for i, e := range s.events {
		what := fmt.Sprintf("%T", e)
		if a, ok := e.(loop.Activity); ok {
			what = a.Text
		}
		told[s.stamps[i].Step] = append(told[s.stamps[i].Step], strings.TrimPrefix(what, "loop."))
	}
	for _, c := range s.calls {
		want := []string{"TurnStarted", string(c.Step) + " 0", string(c.Step) + " 1", string(c.Step) + " 2", "WaitStarted", "WaitFinished", "TurnFinished"}
		if !slices.Equal(told[c.Step], want) {
			t.Errorf("%s: %q", c.Step, told[c.Step])
		}
		if want := "s__" + strings.ReplaceAll(string(c.Step), ".", "_"); c.ID != want {
			t.Errorf("the ID of the turn of %s is %s", c.Step, c.ID)
		}
	}
	var tally progress.Tally
	for i, e := range s.events {
		_ = tally.Handle(s.stamps[i], e) // never fails
	}
	if spent := tally.Spent; spent.Others.CostUSD != 4 || spent.Total().CostUSD != 4 {
		t.Errorf("spent %+v", spent)
	}
}

// TestDebateIsTakenUp: an interrupted run is resumed by running its strategy over the journal. It
// comes to the same end, and no finished turn is repeated.
func TestDebateIsTakenUp(t *testing.T) {
	t.Parallel()
	for breaks := range 60 {
		s := &stage{left: breaks}
		var out loop.Outcome
		for {
			var err error
			if len(s.events) == 0 {
				out, err = s.loop().Run(t.Context(), loop.Session{})
			} else {
				j := loop.Journal{}
				for i, e := range s.events {
					j.Add(s.stamps[i], e)
				}
				out, err = s.loop().Resume(t.Context(), loop.Session{}, &j)
			}
			if err == nil {
				break
			}
			if !errors.Is(err, errCrash) {
				t.Fatalf("interrupted after %d events: %v", breaks, err)
			}
			s.left = -1
		}
		ended := map[loop.Step]int{}
		for i, e := range s.events {
			if _, over := e.(loop.TurnFinished); over {
				ended[s.stamps[i].Step]++
			}
		}
		if out.Summary != debated || len(ended) != 7 {
			t.Errorf("interrupted after %d events: %+v, %v", breaks, out, ended)
		}
		for step, n := range ended {
			if n != 1 {
				t.Errorf("interrupted after %d events: %s finished %d times", breaks, step, n)
			}
		}
	}
}

// TestBlockedTurn: an agent that cannot work ends the run. When the session is resumed, only its
// turn is repeated.
func TestBlockedTurn(t *testing.T) {
	t.Parallel()
	s := &stage{left: -1, meet: 3, fails: map[loop.Step]loop.Ending{"debater_2.round_1": loop.EndAuth}}
	s.crowd.Add(3)
	out, err := s.loop().Run(t.Context(), loop.Session{})
	if err != nil || out.Reason != loop.StopAgentAuth || len(s.calls) != 4 {
		t.Fatalf("%+v, %v after %d turns", out, err, len(s.calls))
	}
	s.fails, s.calls, s.meet = nil, nil, 0
	j := loop.Journal{}
	for i, e := range s.events {
		j.Add(s.stamps[i], e)
	}
	out, err = s.loop().Resume(t.Context(), loop.Session{}, &j)
	if err != nil || out.Summary != debated || len(s.calls) != 4 || s.calls[0].Step != "debater_2.round_1" {
		t.Errorf("%+v, %v after %+v", out, err, s.calls)
	}
}

// TestDebateOfOthers: if the strategy has changed, the resume is refused at the first step that
// differs.
func TestDebateOfOthers(t *testing.T) {
	t.Parallel()
	s := &stage{left: -1}
	j := &loop.Journal{}
	for _, step := range []loop.Step{"planner", "debater_9.round_1"} {
		j.Add(loop.Stamp{Step: step}, loop.TurnFinished{Role: "x", Reply: loop.Reply{Turn: loop.Turn{Try: loop.Try{Ending: loop.EndCompleted}}}})
	}
	_, err := s.loop().Resume(t.Context(), loop.Session{}, j)
	if unfit, ok := errors.AsType[*loop.JournalError](err); !ok || unfit.Found != "debater_9.round_1" || len(s.calls) > 0 {
		t.Errorf("%v after %d turns", err, len(s.calls))
	}
}
