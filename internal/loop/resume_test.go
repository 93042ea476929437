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

// journalOf returns the journal of an interrupted run.
func journalOf(events []loop.Event) *loop.Journal {
	j := &loop.Journal{}
	for i, e := range events {
		j.Add(loop.Stamp{Seq: i + 1, Time: time.Unix(int64(i), 0)}, e)
	}
	return j
}

// journalAfter returns the journal of a session after a round and the events that followed it.
func journalAfter(r loop.Round, then ...loop.Event) *loop.Journal {
	j := &loop.Journal{}
	for _, e := range append([]loop.Event{loop.Started{}, loop.IterationStarted{Iteration: 1}, loop.IterationFinished{Round: r}}, then...) {
		j.Add(loop.Stamp{}, e)
	}
	return j
}

var errCrash = errors.New("crash")

// crash is a sink that simulates a power failure after a number of events.
type crash struct {
	*script
	left int
}

func (c *crash) Handle(at loop.Stamp, e loop.Event) error {
	if c.left == 0 {
		return errCrash
	}
	c.left--
	return c.script.Handle(at, e)
}

// TestResumedRuns interrupts random runs after any event and resumes them repeatedly, also after an
// end without a verdict. All events follow the grammar, an actor's turn whose end was recorded is
// never repeated, and its work gets a verdict before the next actor's turn.
func TestResumedRuns(t *testing.T) {
	t.Parallel()
	again := 0
	for seed := range uint64(2000) {
		s := &script{rnd: rand.New(rand.NewPCG(seed, 2)), now: time.Unix(0, 0), cancel: func(error) {}}
		acted := 0
		for attempt := 0; ; attempt++ {
			sink := &crash{script: s, left: s.rnd.IntN(20)}
			if attempt > 20 {
				sink.left = 1 << 20
			}
			s.asked, s.retried, s.doubted = 0, 0, false
			before := len(s.events)
			out, err := resume(t.Context(), s, sink)
			for _, e := range s.events[before:] {
				if e, ok := e.(loop.ActorFinished); ok && !e.Attempt.Blocked() {
					acted++
				}
			}
			if err == nil && helped(out.Reason) {
				continue
			}
			if err == nil {
				if rounds := journalOf(s.events).Rounds(); len(rounds) != out.Iterations || acted != out.Iterations {
					t.Fatalf("seed %d: %d iterations, %d rounds, %d turns of the actor recorded", seed, out.Iterations, len(rounds), acted)
				}
				break
			}
			if !errors.Is(err, errCrash) {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
		if err := s.grammar.End(); err != nil {
			t.Fatalf("seed %d: %v\n%#v", seed, err, s.events)
		}
		again += rejudged(t, seed, s.events)
	}
	if again == 0 {
		t.Error("nothing was judged again")
	}
}

// helped reports whether a user would resume after such an end: after signing in, or with another
// critic.
func helped(why loop.StopReason) bool {
	return slices.Contains([]loop.StopReason{
		loop.StopAgentAuth, loop.StopAgentRateLimited, loop.StopNoDecision, loop.StopCriticTimeout,
	}, why)
}

// rejudged counts the attempts that were judged again. They are only allowed after a stale DONE,
// and after a resume with work that has no verdict; the text of that work is repeated.
func rejudged(t *testing.T, seed uint64, events []loop.Event) (again int) {
	t.Helper()
	var last loop.Round
	due := false
	for i, e := range events {
		switch e := e.(type) {
		case loop.Resumed:
			if e.Rejudge != journalOf(events[:i]).Undecided() || due && !e.Rejudge {
				t.Fatalf("seed %d: event %d is %+v", seed, i, e)
			}
			due = e.Rejudge
		case loop.ActorFinished:
			if e.Attempt.Rejudged != due || due && e.Attempt.Stdout != last.Attempt.Stdout {
				t.Fatalf("seed %d: event %d is %+v after %+v", seed, i, e, last)
			}
			if due {
				again++
			}
			due = false
		case loop.IterationFinished:
			last = e.Round
			due = len(e.Round.Review.Stale) > 0
		}
	}
	return again
}

func resume(ctx context.Context, s *script, sink loop.Sink) (loop.Outcome, error) {
	l := loop.Loop{
		Workplace:     loop.Workplace{Actor: s, Tree: s, Critic: s, Checker: s, Gate: limit{}},
		Strategy:      strategy.ActorCritic{},
		Sink:          sink,
		Clock:         s.clock,
		CriticRetries: 2,
	}
	if len(s.events) == 0 {
		return l.Run(ctx, loop.Session{Prompt: "do it"})
	}
	return l.Resume(ctx, loop.Session{Prompt: "do it"}, journalOf(s.events))
}

// TestResumeJudgesFirst resumes between the actor's turn and the critic's.
func TestResumeJudgesFirst(t *testing.T) {
	t.Parallel()
	p := &play{
		attempts: []loop.Attempt{{}}, state: "as the actor left it",
		reviews: []loop.Review{says(loop.Continue, "more"), says(loop.Done, "fine")},
	}
	now := time.Unix(1000, 0)
	l := loop.Loop{
		Workplace: loop.Workplace{Actor: p, Tree: p, Critic: p, Gate: limit{}},
		Strategy:  strategy.ActorCritic{},
		Sink:      p,
		Clock:     func() time.Time { now = now.Add(time.Second); return now },
	}
	first := loop.Round{Iteration: 1, Ruling: loop.Ruling{Verdict: loop.Verdict{Decision: loop.Continue, Feedback: "first"}}}
	attempt := loop.Attempt{Turn: loop.Turn{Execution: loop.Execution{Stdout: loop.Output{Text: "paid for"}}}}
	j := journalAfter(first, loop.IterationStarted{Iteration: 2}, loop.ActorFinished{Iteration: 2, Attempt: attempt})
	j.Add(loop.Stamp{Time: time.Time{}.Add(time.Hour)}, loop.Warned{})
	out, err := l.Resume(t.Context(), loop.Session{Prompt: "do it"}, j)
	if err != nil {
		t.Fatal(err)
	}
	if out.Iterations != 3 || out.Duration < time.Hour || len(p.briefs) != 1 {
		t.Errorf("got %+v after %d turns of the actor", out, len(p.briefs))
	}
	if c := p.cases[0]; c.Iteration != 2 || c.Attempt.Stdout.Text != "paid for" || len(c.History) != 1 {
		t.Errorf("the first case is %+v", c)
	}
	if b := p.briefs[0]; b.Iteration != 3 || b.Previous.Verdict.Feedback != "more" {
		t.Errorf("the brief is %+v", b)
	}
}

// TestResumeWritesTheEnd resumes a session that was interrupted between its last round and its end:
// no further turn is paid for.
func TestResumeWritesTheEnd(t *testing.T) {
	t.Parallel()
	for reason, ruling := range map[loop.StopReason]loop.Ruling{
		loop.StopPolicyEscalation: {Verdict: loop.Verdict{Decision: loop.Error, Escalation: "all of it"}},
		loop.StopStuck:            {Verdict: loop.Verdict{Decision: loop.Continue}, Stop: loop.StopStuck, Why: "all of it"},
	} {
		for _, ended := range []bool{false, true} {
			p := &play{attempts: []loop.Attempt{{}}, reviews: []loop.Review{says(loop.Done, "more of it")}}
			l := loop.Loop{
				Workplace: loop.Workplace{Actor: p, Tree: p, Critic: p, Gate: limit{}},
				Strategy:  strategy.ActorCritic{},
				Sink:      p,
				Clock:     func() time.Time { return time.Unix(1000, 0) },
			}
			broken := loop.Attempt{Turn: loop.Turn{Try: loop.Try{Ending: loop.EndFailed, Reason: "no room left"}}}
			j := journalAfter(loop.Round{Iteration: 1, Attempt: broken, Ruling: ruling})
			if ended {
				j.Add(loop.Stamp{}, loop.Finished{})
			}
			out, err := l.Resume(t.Context(), loop.Session{Prompt: "do it"}, j)
			if err != nil {
				t.Fatal(err)
			}
			want := loop.Outcome{Result: reason.Result(), Reason: reason, Iterations: 1, Summary: "all of it", ActorError: "no room left"}
			if ended {
				want = loop.Outcome{Result: loop.Success, Reason: loop.StopDone, Iterations: 2, Summary: "more of it"}
			}
			if out != want || len(p.briefs) != want.Iterations-1 {
				t.Errorf("%s, ended %v: got %+v after %d turns of the actor", reason, ended, out, len(p.briefs))
			}
			if err := p.grammar.End(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestResumeBelievesNoDone resumes after a DONE that did not end the session: the work is judged
// again without another actor's turn or iteration. If the actor had begun to work since, the loop
// goes on.
func TestResumeBelievesNoDone(t *testing.T) {
	t.Parallel()
	done := loop.Round{Iteration: 1, Ruling: loop.Ruling{Verdict: loop.Verdict{Decision: loop.Done}}}
	for name, c := range map[string]struct {
		then   []loop.Event
		says   loop.Review
		want   loop.StopReason
		briefs int
	}{
		"after a crash":         {nil, says(loop.Done, "fine"), loop.StopDone, 0},
		"after an end":          {[]loop.Event{loop.Finished{}}, says(loop.Done, "fine"), loop.StopDone, 0},
		"it was not done":       {nil, says(loop.Continue, "more"), loop.StopMaxIterations, 0},
		"the actor was at work": {[]loop.Event{loop.IterationStarted{Iteration: 2}}, says(loop.Done, "fine"), loop.StopDone, 1},
	} {
		p := &play{attempts: []loop.Attempt{{}}, reviews: []loop.Review{c.says}}
		l := loop.Loop{
			Workplace: loop.Workplace{Actor: p, Tree: p, Critic: p, Gate: limit{1 + c.briefs}},
			Strategy:  strategy.ActorCritic{},
			Sink:      p,
			Clock:     func() time.Time { return time.Unix(1000, 0) },
		}
		out, err := l.Resume(t.Context(), loop.Session{Prompt: "do it"}, journalAfter(done, c.then...))
		if err != nil || out.Reason != c.want || out.Iterations != 2 || len(p.briefs) != c.briefs || len(p.cases) != 1 {
			t.Errorf("%s: got %+v, %v after %d turns of the actor and %d of the critic", name, out, err, len(p.briefs), len(p.cases))
		}
		if err := p.grammar.End(); err != nil {
			t.Error(err)
		}
	}
}

// TestResumeJudgesAgain resumes after an iteration without a verdict.
func TestResumeJudgesAgain(t *testing.T) {
	t.Parallel()
	lost := loop.Round{
		Iteration: 1, Failure: loop.StopNoDecision,
		Attempt: loop.Attempt{Turn: loop.Turn{
			Execution: loop.Execution{Stdout: loop.Output{Text: "paid for"}, Duration: time.Hour}, Try: loop.Try{Usage: loop.Usage{CostUSD: new(3.0)}},
		}},
		Review: loop.Review{Problem: "no decision"},
		Ruling: loop.Ruling{Verdict: loop.Verdict{Decision: loop.Error}},
	}
	begun := loop.IterationStarted{Iteration: 2}
	for name, c := range map[string]struct {
		then   []loop.Event
		briefs int
		judges bool // the attempt of the iteration that had begun is judged
	}{
		"after an end":            {[]loop.Event{loop.Finished{}}, 0, false},
		"after a crash":           {nil, 0, false},
		"the actor was at work":   {[]loop.Event{begun}, 1, false},
		"the actor has been done": {[]loop.Event{begun, loop.ActorFinished{Iteration: 2}}, 0, true},
	} {
		p := &play{attempts: []loop.Attempt{{}}, reviews: []loop.Review{says(loop.Done, "fine")}, state: "as it was left"}
		now := time.Unix(1000, 0)
		l := loop.Loop{
			Workplace: loop.Workplace{Actor: p, Tree: p, Critic: p, Gate: limit{}},
			Strategy:  strategy.ActorCritic{},
			Sink:      p,
			Clock:     func() time.Time { now = now.Add(time.Second); return now },
		}
		out, err := l.Resume(t.Context(), loop.Session{Prompt: "do it"}, journalAfter(lost, c.then...))
		if err != nil || out.Reason != loop.StopDone || out.Iterations != 2 || len(p.briefs) != c.briefs {
			t.Errorf("%s: %+v, %v after %d turns of the actor", name, out, err, len(p.briefs))
			continue
		}
		got := p.cases[0].Attempt
		if again := c.briefs == 0 && !c.judges; got.Rejudged != again || again && (got.Stdout.Text != "paid for" || got.Duration != 0 || *got.Usage.CostUSD != 0) {
			t.Errorf("%s: the judged round is %+v", name, got)
		}
	}
}
