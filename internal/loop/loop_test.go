package loop_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/loop/looptest"
	"codeloops/internal/strategy"
)

var errBroken = errors.New("broken")

// A script plays all the ports of a loop at random. It is only called from the loop's goroutine.
type script struct {
	rnd    *rand.Rand
	cancel context.CancelCauseFunc
	faults int // one step in so many fails; 0 means none
	state  int
	head   int
	seen   []int // HEAD at each check of the last run
	looked int   // the state at the last look
	stale  int   // DONEs on a work tree that had changed by then
	asked  int
	// retried and doubted count the retries of the current review.
	retried int
	doubted bool
	events  []loop.Event
	broken  error // the error that made a step fail, if any
	stops   bool  // the context was cancelled
	now     time.Time
	ticks   atomic.Int64 // since now; words of the user are heard in another goroutine

	grammar looptest.Grammar
}

func (s *script) fault() error {
	if s.faults == 0 || s.rnd.IntN(s.faults) > 0 {
		return nil
	}
	switch s.rnd.IntN(3) {
	case 0:
		s.stops = true
		s.cancel(errors.New("signal"))
		return nil
	case 1:
		s.stops = true
		s.cancel(loop.ErrMaxDuration)
		return context.Canceled
	}
	s.broken = errBroken
	return errBroken
}

func (s *script) clock() time.Time {
	return s.now.Add(time.Duration(s.ticks.Add(int64(417 * time.Millisecond))))
}

func (s *script) ending() loop.Ending {
	all := []loop.Ending{loop.EndCompleted, loop.EndCompleted, loop.EndFailed, loop.EndTimedOut, loop.EndIdle, loop.EndOutputLimit}
	if s.rnd.IntN(300) == 0 {
		all = []loop.Ending{loop.EndAuth, loop.EndRateLimited}
	}
	return all[s.rnd.IntN(len(all))]
}

func (s *script) Act(_ context.Context, _ loop.Brief, watch loop.Watch) (loop.Attempt, error) {
	for range s.rnd.IntN(3) {
		watch(loop.Notice{Kind: loop.NoticeOutput, Stream: "stdout", Text: "working"})
	}
	s.waits(watch)
	s.state++
	words := loop.Output{Text: strings.Repeat("x", s.rnd.IntN(10))}
	return loop.Attempt{Turn: loop.Turn{Try: loop.Try{Ending: s.ending()}, Execution: loop.Execution{Stdout: words}}}, s.fault()
}

// waits makes the turn wait now and then.
func (s *script) waits(watch loop.Watch) {
	for range max(0, s.rnd.IntN(8)-5) {
		w := loop.Wait{Cause: loop.EndOverloaded}
		watch(loop.Notice{Wait: &w})
		w.Duration, w.End = time.Second, loop.WaitOver
		watch(loop.Notice{Wait: &w})
	}
}

func (s *script) Capture(context.Context) (loop.Change, error) {
	at := loop.Position{Head: strconv.Itoa(s.head)}
	s.looked = s.state
	return loop.Change{State: strconv.Itoa(s.state), Position: at}, s.fault()
}

func (s *script) Between(_ context.Context, from, to loop.Change) (loop.Change, error) {
	if from.State == "" || to.State != strconv.Itoa(s.state) {
		return loop.Change{}, fmt.Errorf("compared %q with %q", from.State, to.State)
	}
	return loop.Change{State: to.State}, s.fault()
}

func (s *script) Checkpoint(_ context.Context, step loop.Step, c loop.Change) (string, error) {
	return fmt.Sprint(step, " ", c.State), nil
}

// meddle is a user who sometimes changes the work tree or moves HEAD.
func (s *script) meddle() {
	if s.rnd.IntN(4) == 0 {
		s.state += 100
	}
	if s.rnd.IntN(6) == 0 {
		s.head++
	}
}

// writes returns what was written in a view, usually nothing.
func (s *script) writes() (w loop.Written) {
	lists := []*[]string{&w.Changed, &w.Added, &w.Repository, &w.Settings}
	if n := s.rnd.IntN(12); n < len(lists) {
		*lists[n] = []string{"a.txt"}
	}
	return w
}

func (s *script) Check(context.Context, loop.Step) iter.Seq2[loop.CheckResult, error] {
	return func(yield func(loop.CheckResult, error) bool) {
		s.seen = nil
		for range 2 {
			s.seen = append(s.seen, s.head)
			s.meddle()
			result := loop.CheckResult{Command: "test", Ending: loop.EndCompleted, ExitCode: s.rnd.IntN(6) / 5, Written: s.writes()}
			result.Changed = result.Written.Changed
			err := s.fault()
			if !yield(result, err) || err != nil {
				return
			}
		}
	}
}

func (s *script) Judge(_ context.Context, c loop.Case, watch loop.Watch) (loop.Review, error) {
	s.asked++
	s.waits(watch)
	s.meddle()
	review := loop.Review{Turn: loop.Turn{Try: loop.Try{Ending: s.ending()}}, Written: s.writes()}
	switch s.rnd.IntN(8) {
	case 0:
		review.Verdict.Decision = loop.Done
	case 1:
		review.Verdict = loop.Verdict{Decision: loop.Error, Recovery: "try again"}
	case 2, 6, 7:
		review.Problem = "no decision"
	case 3:
		review.Verdict = loop.Verdict{Decision: loop.Error, Escalation: "a person must look"}
	default:
		review.Verdict = loop.Verdict{Decision: loop.Continue, Feedback: "more"}
	}
	if (c.Objection != nil) != (s.asked > 1) {
		return review, fmt.Errorf("objection %v at ask %d", c.Objection, s.asked)
	}
	switch {
	case review.Ending.Cut():
		review.Problem = "cut"
		s.asked, s.retried, s.doubted = 0, 0, false
	case review.Problem != "" && s.retried < 2:
		s.retried++
	case review.Problem == "" && meddled(review) && !s.doubted:
		s.doubted = true
	default:
		s.asked, s.retried, s.doubted = 0, 0, false
	}
	return review, s.fault()
}

// meddled reports whether a review is a DONE after changes in the critic's view.
func meddled(r loop.Review) bool {
	return r.Verdict.Decision == loop.Done && len(r.Written.Changed)+len(r.Written.Settings) > 0
}

// Handle is a recorder whose disk is full now and then. An event that it refuses did not happen,
// but it always sees the end.
func (s *script) Handle(at loop.Stamp, e loop.Event) error {
	var err error
	if s.faults > 0 && s.rnd.IntN(s.faults*10) == 0 {
		s.broken, err = errBroken, errBroken
	}
	if e, ok := e.(loop.IterationFinished); ok {
		err = errors.Join(err, s.checkDone(e.Round))
	}
	if _, end := e.(loop.Finished); err == nil || end {
		s.events = append(s.events, e)
		return errors.Join(err, s.grammar.Handle(at, e))
	}
	return err
}

// checkDone returns an error if a stale DONE counts, or if a DONE counts although the work tree has
// changed.
func (s *script) checkDone(r loop.Round) error {
	switch stale := len(r.Review.Stale) > 0; {
	case stale && (r.Review.Problem == "" || r.Verdict.Decision != loop.Error || r.Failure == loop.StopNone):
		return fmt.Errorf("%w: %+v counts", errUnseen, r)
	case stale:
		s.stale++
		return nil
	case r.Verdict.Decision != loop.Done:
		return nil
	case r.Change.State != strconv.Itoa(s.looked) || s.looked != s.state:
		return fmt.Errorf("%w: DONE on %s, and the work tree is at %d, last seen at %d", errUnseen, r.Change.State, s.state, s.looked)
	}
	return s.checkHead(r)
}

// checkHead returns an error for a DONE whose checks passed on another HEAD.
func (s *script) checkHead(r loop.Round) error {
	if len(r.Checks) == 0 || slices.ContainsFunc(r.Checks, func(c loop.CheckResult) bool { return !c.Passed() }) {
		return nil // only the gate of this test permits DONE
	}
	for i := range r.Checks {
		if s.seen[i] != s.head {
			return fmt.Errorf("%w: a check ran at HEAD %d, which is at %d now", errUnseen, s.seen[i], s.head)
		}
	}
	return nil
}

var errUnseen = errors.New("the critic has not seen the current state")

// limit is a gate that permits three errors in a row or six iterations.
type limit struct{ iterations int } // 0 means six

func (l limit) Stop(p loop.Progress) (loop.StopReason, string) {
	switch {
	case p.ConsecutiveErrors >= 3:
		return p.LastFailure, "errors"
	case p.Iterations >= cmp.Or(l.iterations, 6) && !p.Judges:
		return loop.StopMaxIterations, "limit"
	}
	return loop.StopNone, ""
}

// Inspect sometimes reports findings, and sometimes sends work back itself.
func (limit) Inspect(c loop.Case) (loop.Inspection, *loop.Ruling) {
	var i loop.Inspection
	switch len(c.Attempt.Stdout.Text) % 5 {
	case 1:
		i.Concerns = []loop.Concern{{Rule: "tamper", Text: "a test is gone"}}
	case 2:
		return i, &loop.Ruling{Rule: "max_files", Verdict: loop.Verdict{Decision: loop.Continue, Feedback: "smaller"}}
	case 3:
		if c.Iteration == 4 {
			return i, &loop.Ruling{
				Rule: "deny_paths", Verdict: loop.Verdict{Decision: loop.Error},
				Stop: loop.Violation("deny_paths"), Why: "it was changed",
			}
		}
	}
	return i, nil
}

func (limit) Ends(_ loop.Case, r loop.Review) (bool, []string) {
	return r.Problem == "" && r.Verdict.Decision == loop.Done, nil
}

func (limit) Rule(_ loop.Case, r loop.Review) loop.Ruling {
	if r.Problem != "" {
		return loop.Ruling{Verdict: loop.Verdict{Decision: loop.Error, Analysis: r.Problem}}
	}
	return loop.Ruling{Verdict: r.Verdict}
}

func TestRandomRuns(t *testing.T) {
	t.Parallel()
	results, stale := map[loop.StopReason]int{}, 0
	for seed := range uint64(5000) {
		s := &script{rnd: rand.New(rand.NewPCG(seed, 1)), faults: int(seed % 4 * 10), now: time.Unix(0, 0)}
		out, err := playScript(t, s, seed)
		results[out.Reason]++
		stale += s.stale
		rejudged(t, seed, s.events)
		if (err != nil) != (out.Reason == loop.StopInternal) {
			t.Fatalf("seed %d: error %v with the reason %q", seed, err, out.Reason)
		}
		if s.broken == nil && err != nil || errors.Is(err, errUnseen) {
			t.Fatalf("seed %d: no step failed, but %v", seed, err)
		}
		if !s.stops && (out.Reason == loop.StopInterrupted || out.Reason == loop.StopMaxDuration) {
			t.Fatalf("seed %d: %q, but nobody cancelled", seed, out.Reason)
		}
	}
	for _, reason := range []loop.StopReason{
		loop.StopDone, loop.StopMaxIterations, loop.StopMaxDuration, loop.StopConsecutiveErrors,
		loop.StopActorTimeout, loop.StopCriticTimeout, loop.StopOutputLimit, loop.StopNoDecision,
		loop.StopPolicyEscalation, loop.StopInterrupted, loop.StopInternal,
		loop.StopAgentAuth, loop.StopAgentRateLimited, loop.Violation("deny_paths"),
	} {
		if results[reason] == 0 {
			t.Errorf("no run ended with %q: %v", reason, results)
		}
	}
	if stale == 0 {
		t.Error("no DONE was stale")
	}
}

func playScript(t *testing.T, s *script, seed uint64) (loop.Outcome, error) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	s.cancel = cancel
	l := loop.Loop{
		Workplace:     loop.Workplace{Actor: s, Tree: s, Critic: s, Gate: limit{}},
		Strategy:      strategy.ActorCritic{},
		Clock:         s.clock,
		CriticRetries: 2,
		Sink:          s,
	}
	if seed%2 == 0 {
		l.Checker = s
		l.Checks.Before = seed%3 == 0
	}
	out, err := l.Run(ctx, loop.Session{Prompt: "do it"})
	if e := s.grammar.End(); e != nil {
		t.Fatalf("seed %d: %v\n%#v", seed, e, s.events)
	}
	last, ok := s.events[len(s.events)-1].(loop.Finished)
	if !ok {
		t.Fatalf("seed %d: the last event is %T", seed, s.events[len(s.events)-1])
	}
	if last.Outcome != out && err == nil {
		t.Fatalf("seed %d: the end says %+v, Run says %+v", seed, last.Outcome, out)
	}
	return out, err
}

// TestTransitions compares the table with the diagram in the contract.
func TestTransitions(t *testing.T) {
	t.Parallel()
	legal := map[[2]loop.State]bool{
		{loop.Start, loop.ActorExecuting}:             true,
		{loop.ActorExecuting, loop.CapturingDiff}:     true,
		{loop.CapturingDiff, loop.Verifying}:          true,
		{loop.CapturingDiff, loop.CriticEvaluating}:   true,
		{loop.Verifying, loop.CriticEvaluating}:       true,
		{loop.CriticEvaluating, loop.DecidedDone}:     true,
		{loop.CriticEvaluating, loop.DecidedContinue}: true,
		{loop.CriticEvaluating, loop.DecidedError}:    true,
		{loop.DecidedContinue, loop.ActorExecuting}:   true,
		{loop.DecidedError, loop.ActorExecuting}:      true,
	}
	for from := loop.Start; from <= loop.Ended; from++ {
		name, ok := loop.ParseState(from.String())
		if !ok || name != from {
			t.Errorf("%v does not read back", from)
		}
		for to := loop.Start; to <= loop.Ended; to++ {
			var m loop.Machine
			for _, step := range pathTo(from) {
				if err := m.To(step); err != nil {
					t.Fatal(err)
				}
			}
			want := legal[[2]loop.State{from, to}] || (to == loop.Ended && from != loop.Ended)
			err := m.To(to)
			if (err == nil) != want || (err != nil && !errors.Is(err, loop.ErrTransition)) {
				t.Errorf("%v to %v: %v, want legal = %v", from, to, err, want)
			}
			if err != nil && m.State() != from {
				t.Errorf("the refused transition from %v left the machine at %v", from, m.State())
			}
		}
	}
}

func pathTo(s loop.State) []loop.State {
	way := []loop.State{loop.ActorExecuting, loop.CapturingDiff, loop.Verifying, loop.CriticEvaluating}
	switch s {
	case loop.Start:
		return nil
	case loop.Ended:
		return []loop.State{loop.Ended}
	case loop.DecidedDone, loop.DecidedContinue, loop.DecidedError:
		return append(way, s)
	case loop.ActorExecuting, loop.CapturingDiff, loop.Verifying, loop.CriticEvaluating:
	}
	return way[:s]
}
