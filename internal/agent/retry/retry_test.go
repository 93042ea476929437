package retry_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"codeloops/internal/agent"
	"codeloops/internal/agent/retry"
	"codeloops/internal/loop"
)

// service is a player with prepared turns; the last one is repeated.
type service struct {
	turns []loop.Turn
	calls int
	err   error
	took  time.Duration // of each turn
}

func (s *service) Run(_ context.Context, r agent.Request) (agent.Reply, error) {
	if r.Try != s.calls {
		return agent.Reply{}, fmt.Errorf("try %d at call %d", r.Try, s.calls)
	}
	turn := s.turns[min(s.calls, len(s.turns)-1)]
	s.calls++
	time.Sleep(s.took)
	turn.Agent = tired
	return agent.Reply{Turn: turn}, s.err
}

var tired = loop.AgentRef{Agent: "tired", Model: "large"}

func limited(until time.Time) loop.Turn {
	return loop.Turn{Try: loop.Try{Ending: loop.EndRateLimited, Reason: "5-hour limit"}, ResetAt: until}
}

var (
	done       = loop.Turn{Try: loop.Try{Ending: loop.EndCompleted}}
	overloaded = loop.Turn{Try: loop.Try{Ending: loop.EndOverloaded}}
)

// play runs one request with a fake clock. It returns how and after what time the request
// ended, and the reported waits.
func play(ctx context.Context, t *testing.T, s *service, a *retry.Retrier) (loop.Ending, time.Duration, []loop.Wait) {
	t.Helper()
	a.Player, a.Now = s, time.Now
	a.Random = func() float64 { return 0 }
	began := time.Now()
	var waits []loop.Wait
	reply, err := a.Run(ctx, agent.Request{Watch: func(n loop.Notice) { waits = append(waits, *n.Wait) }})
	if !errors.Is(err, s.err) {
		t.Errorf("error %v", err)
	}
	return reply.Ending, time.Since(began), waits
}

func TestWaitsForAStatedEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		end := time.Now().Add(2 * time.Hour)
		s := &service{turns: []loop.Turn{limited(end), done}}
		ending, took, waits := play(t.Context(), t, s, &retry.Retrier{MaxWait: 6 * time.Hour})
		if ending != loop.EndCompleted || took != 2*time.Hour+3*time.Second || s.calls != 2 {
			t.Errorf("%s after %v, %d calls", ending, took, s.calls)
		}
		begun := loop.Wait{Agent: tired, Cause: loop.EndRateLimited, Reason: "5-hour limit", Until: end.Add(3 * time.Second)}
		over := begun
		over.Duration, over.End = 2*time.Hour+3*time.Second, loop.WaitOver
		want := []loop.Wait{begun, over}
		if !reflect.DeepEqual(waits, want) {
			t.Errorf("waits %+v, want %+v", waits, want)
		}
	})
}

// TestLongTurns: only waits count towards the longest one, not the turns' own time.
func TestLongTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &service{turns: []loop.Turn{limited(time.Now().Add(45 * time.Minute)), limited(time.Now().Add(90 * time.Minute)), done}, took: 40 * time.Minute}
		if ending, _, waits := play(t.Context(), t, s, &retry.Retrier{MaxWait: 20 * time.Minute}); ending != loop.EndCompleted || len(waits) != 4 {
			t.Errorf("%s after %d calls, %+v", ending, s.calls, waits)
		}
	})
}

// TestWaitOfAMachineThatSleeps: a wait ends when the clock reaches the end of the limit,
// even if the machine was suspended meanwhile.
func TestWaitOfAMachineThatSleeps(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		slept := func() time.Time {
			if now := time.Now(); now.Sub(began) < time.Minute {
				return now
			}
			return time.Now().Add(8 * time.Hour)
		}
		s := &service{turns: []loop.Turn{limited(began.Add(5 * time.Hour)), done}}
		a := &retry.Retrier{Player: s, Now: slept, MaxWait: 6 * time.Hour, Random: func() float64 { return 0 }}
		reply, err := a.Run(t.Context(), agent.Request{})
		if took := time.Since(began); err != nil || reply.Ending != loop.EndCompleted || took < time.Minute || took > 2*time.Minute {
			t.Errorf("%s after %v, %v", reply.Ending, took, err)
		}
	})
}

func TestWaitsLongerAndLonger(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &service{turns: []loop.Turn{limited(time.Time{}), limited(time.Time{}), limited(time.Time{}), done}}
		ending, took, _ := play(t.Context(), t, s, &retry.Retrier{MaxWait: 6 * time.Hour})
		if ending != loop.EndCompleted || took != 7*time.Minute {
			t.Errorf("%s after %v", ending, took)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		s := &service{turns: []loop.Turn{limited(time.Time{})}}
		ending, took, _ := play(t.Context(), t, s, &retry.Retrier{MaxWait: time.Hour})
		if ending != loop.EndRateLimited || took > time.Hour {
			t.Errorf("%s after %v", ending, took)
		}
	})
}

// TestStatedEndIsOver: if the stated end has passed, because the turn took long or clocks
// differ, the retry follows soon.
func TestStatedEndIsOver(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		ends []time.Duration // the stated ends, relative to the start
		took time.Duration
	}{
		"a minute ago":     {[]time.Duration{-time.Minute}, 2 * time.Second},
		"yesterday":        {[]time.Duration{-24 * time.Hour}, 2 * time.Second},
		"just now":         {[]time.Duration{0}, 3 * time.Second},
		"in a moment":      {[]time.Duration{time.Second}, 4 * time.Second},
		"still the same":   {[]time.Duration{-time.Hour, -time.Hour, -time.Hour, -time.Hour}, 30 * time.Second},
		"after waiting":    {[]time.Duration{time.Hour, time.Hour, time.Hour}, time.Hour + 9*time.Second},
		"ever in a moment": {[]time.Duration{time.Second, 5 * time.Second, 10 * time.Second, 18 * time.Second}, 32 * time.Second},
		"the next one":     {[]time.Duration{-time.Hour, -time.Hour, time.Hour}, time.Hour + 3*time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &service{}
			for _, end := range test.ends {
				s.turns = append(s.turns, limited(time.Now().Add(end)))
			}
			s.turns = append(s.turns, done)
			ending, took, _ := play(t.Context(), t, s, &retry.Retrier{MaxWait: 6 * time.Hour})
			if ending != loop.EndCompleted || took != test.took {
				t.Errorf("%s: %s after %v, want %v", name, ending, took, test.took)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		s := &service{turns: []loop.Turn{limited(time.Now())}}
		ending, took, _ := play(t.Context(), t, s, &retry.Retrier{MaxWait: 6 * time.Hour})
		if ending != loop.EndRateLimited || took > 6*time.Hour || s.calls > 25 {
			t.Errorf("%s after %v, %d calls", ending, took, s.calls)
		}
	})
}

func TestDoesNotWaitTooLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, most := range []time.Duration{0, time.Hour} {
			s := &service{turns: []loop.Turn{limited(time.Now().Add(2 * time.Hour)), done}}
			ending, took, waits := play(t.Context(), t, s, &retry.Retrier{MaxWait: most})
			if ending != loop.EndRateLimited || took != 0 || waits != nil {
				t.Errorf("%v: %s after %v, waits %v", most, ending, took, waits)
			}
		}
	})
}

// TestOverload: after an overload, the waits get longer, and their number is limited.
func TestOverload(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &service{turns: []loop.Turn{overloaded, overloaded, done}}
		ending, took, _ := play(t.Context(), t, s, &retry.Retrier{MaxWait: time.Hour})
		if ending != loop.EndCompleted || took != 6*time.Second {
			t.Errorf("%s after %v", ending, took)
		}
		s = &service{turns: []loop.Turn{overloaded}}
		ending, took, _ = play(t.Context(), t, s, &retry.Retrier{MaxWait: time.Hour})
		if ending != loop.EndOverloaded || s.calls != 6 || took != 62*time.Second {
			t.Errorf("%s after %v, %d calls", ending, took, s.calls)
		}
	})
}

func TestWaitIsCutShort(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hurry := make(chan struct{}, 1)
		hurry <- struct{}{}
		until := time.Now().Add(time.Hour + 3*time.Second)
		s := &service{turns: []loop.Turn{limited(time.Now().Add(time.Hour)), done}}
		ending, took, waits := play(t.Context(), t, s, &retry.Retrier{MaxWait: 6 * time.Hour, Early: hurry})
		if len(waits) != 2 || waits[1].End != loop.WaitHurried || waits[1].Duration != 0 || !waits[0].Until.Equal(until) {
			t.Errorf("waits %+v", waits)
		}
		if ending != loop.EndCompleted || took != 0 {
			t.Errorf("%s after %v", ending, took)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		s := &service{turns: []loop.Turn{limited(time.Now().Add(time.Hour))}}
		ending, took, waits := play(ctx, t, s, &retry.Retrier{MaxWait: 6 * time.Hour})
		if len(waits) != 2 || waits[1].End != loop.WaitInterrupted || waits[1].Duration != time.Minute {
			t.Errorf("waits %+v", waits)
		}
		if ending != loop.EndInterrupted || took != time.Minute {
			t.Errorf("%s after %v", ending, took)
		}
	})
}

// TestReady: a wait can be cut short as soon as it is reported, and earlier requests to
// cut a wait short are ignored.
func TestReady(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hurry := make(chan struct{}, 1)
		hurry <- struct{}{} // before the wait begins
		a := &retry.Retrier{
			Player: &service{turns: []loop.Turn{limited(time.Now().Add(time.Hour)), limited(time.Now().Add(time.Hour)), done}},
			Now:    time.Now, MaxWait: 6 * time.Hour, Random: func() float64 { return 0 },
			Ready: func() {
				select {
				case <-hurry:
				default:
				}
			},
			Early: hurry,
		}
		var ends []loop.WaitEnd
		watch := func(n loop.Notice) {
			if ends = append(ends, n.Wait.End); len(ends) == 1 {
				hurry <- struct{}{}
			}
		}
		_, err := a.Run(t.Context(), agent.Request{Watch: watch})
		want := []loop.WaitEnd{ends[0], loop.WaitHurried, ends[0], loop.WaitOver}
		if err != nil || !slices.Equal(ends, want) {
			t.Errorf("the waits ended with %v, %v, want %v", ends, err, want)
		}
	})
}

func TestEverythingElseIsTheReply(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, e := range []loop.Ending{loop.EndCompleted, loop.EndFailed, loop.EndAuth, loop.EndTimedOut, loop.EndContextTooLong} {
			s := &service{turns: []loop.Turn{{Try: loop.Try{Ending: e}}}}
			if ending, took, _ := play(t.Context(), t, s, &retry.Retrier{MaxWait: time.Hour}); ending != e || took != 0 || s.calls != 1 {
				t.Errorf("%s: %s after %v, %d calls", e, ending, took, s.calls)
			}
		}
		s := &service{turns: []loop.Turn{overloaded}, err: errors.New("broken")}
		if play(t.Context(), t, s, &retry.Retrier{MaxWait: time.Hour}); s.calls != 1 {
			t.Errorf("%d calls after an error", s.calls)
		}
	})
}
