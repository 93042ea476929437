package session_test

import (
	"bytes"
	"errors"
	"os"
	"reflect"
	"testing"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/session"
)

// told is a log that is being written, with a clock that advances a second per event.
type told struct {
	t   *testing.T
	rec *session.Recorder
	seq int
	now time.Time
}

func (l *told) tell(events ...loop.Event) {
	l.t.Helper()
	for _, e := range events {
		l.seq++
		l.now = l.now.Add(time.Second)
		if err := l.rec.Handle(loop.Stamp{Seq: l.seq, Time: l.now}, e); err != nil {
			l.t.Fatal(err)
		}
	}
}

func attempt(text string, e loop.Ending) loop.Attempt {
	out := loop.Output{Text: text, Total: int64(len(text))}
	return loop.Attempt{Turn: loop.Turn{Execution: loop.Execution{Stdout: out}, Try: loop.Try{Ending: e}}}
}

// newTold begins a log and returns it with its store.
func newTold(t *testing.T) (*session.Store, *told) {
	t.Helper()
	store, err := session.NewStore(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	rec, err := store.Create("do it", began)
	if err != nil {
		t.Fatal(err)
	}
	l := &told{t: t, rec: rec, now: began}
	l.tell(loop.Started{Session: loop.Session{ID: rec.ID(), Prompt: "do it"}})
	return store, l
}

// expect reads the course of the log and compares what matters.
func (l *told) expect(store *session.Store, state, checkpoint string, rounds int, paid string, elapsed time.Duration) session.Course {
	l.t.Helper()
	got, err := store.Course(l.rec.ID())
	if err != nil {
		l.t.Fatal(err)
	}
	words := ""
	if pending := got.Journal.Pending(); pending != nil {
		words = pending.Stdout.Text
	}
	if got.Tree.State != state || got.Checkpoint != checkpoint || len(got.Journal.Rounds()) != rounds || words != paid ||
		got.Journal.Elapsed() != elapsed || got.Session.Prompt != "do it" {
		l.t.Errorf("got %+v (attempt %q)", got, words)
	}
	return got
}

var (
	change = loop.Change{State: "one", Checkpoint: "c1"}
	round  = loop.Round{
		Iteration: 1, Attempt: attempt("first", loop.EndCompleted), Change: change,
		Ruling: loop.Ruling{Verdict: loop.Verdict{Decision: loop.Continue, Feedback: "more"}},
	}
)

func TestCourse(t *testing.T) {
	t.Parallel()
	store, l := newTold(t)
	l.expect(store, "", "", 0, "", 0)
	l.tell(loop.IterationStarted{Iteration: 1}, loop.PhaseEntered{Iteration: 1, State: loop.ActorExecuting},
		loop.ActorFinished{Iteration: 1, Attempt: round.Attempt})
	l.expect(store, "", "", 0, "first", 3*time.Second)
	l.tell(loop.DiffCaptured{Iteration: 1, Change: change})
	l.expect(store, "one", "c1", 0, "first", 4*time.Second)
	l.tell(loop.IterationFinished{Round: round})
	l.expect(store, "one", "c1", 1, "", 5*time.Second)

	// After an actor at work or an interrupt, the state of the work tree is unknown.
	l.tell(loop.IterationStarted{Iteration: 2}, loop.PhaseEntered{Iteration: 2, State: loop.ActorExecuting})
	l.expect(store, "", "", 1, "", 7*time.Second)
	for _, e := range []loop.Ending{loop.EndInterrupted, loop.EndRateLimited, loop.EndAuth} {
		l.tell(loop.ActorFinished{Iteration: 2, Attempt: attempt("half", e)})
		l.expect(store, "", "", 1, "", time.Duration(l.seq-1)*time.Second)
	}
}

// TestForkedStates: the log tells which states of forks may have been applied before a crash.
func TestForkedStates(t *testing.T) {
	t.Parallel()
	store, l := newTold(t)
	at := func(step loop.Step, name, state string) {
		l.seq++
		if err := l.rec.Handle(loop.Stamp{Seq: l.seq, Time: l.now, Step: step}, loop.Noted{Name: name, Text: string(step), Change: loop.Change{State: state, Checkpoint: state}}); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(want ...string) {
		t.Helper()
		if got, err := store.Course(l.rec.ID()); err != nil || !reflect.DeepEqual(got.Forked, want) {
			t.Errorf("%q, %v, want %q", got.Forked, err, want)
		}
	}
	at("start", loop.NoteCheckpoint, "root")
	expect()
	at("work", loop.NoteForked, "")
	at("work.plan_1.step_1.end", loop.NoteCheckpoint, "one")
	expect("one")
	at("apply_1", loop.NoteApplied, "one")
	expect()
	at("work.plan_1.step_2.end", loop.NoteCheckpoint, "two")
	expect("two")
}

// TestCourseOfAResumedSession: a later process appends to the log, and the time in between does not
// count.
func TestCourseOfAResumedSession(t *testing.T) {
	t.Parallel()
	store, l := newTold(t)
	l.tell(loop.IterationStarted{Iteration: 1}, loop.IterationFinished{Round: round},
		loop.Finished{Outcome: loop.Outcome{Result: loop.Interrupted, Reason: loop.StopInterrupted, Iterations: 1}})
	if got := l.expect(store, "one", "c1", 1, "", 3*time.Second); got.Outcome == nil {
		t.Error("the end is missing")
	}
	var err error
	var course session.Course
	if l.rec, course, err = store.Reopen(l.rec.ID()); err != nil || len(course.Journal.Rounds()) != 1 || course.Outcome == nil {
		t.Fatalf("%+v, %v", course, err)
	}
	if _, _, err := store.Reopen(l.rec.ID()); !errors.Is(err, session.ErrRunning) {
		t.Errorf("reopened twice: %v", err)
	}
	l.now = l.now.Add(5 * time.Hour)
	l.tell(loop.Resumed{Session: loop.Session{ID: l.rec.ID()}, Iterations: 1}, loop.IterationStarted{Iteration: 2},
		loop.ActorFinished{Iteration: 2, Attempt: attempt("second", loop.EndCompleted)})
	got := l.expect(store, "one", "c1", 1, "second", 5*time.Second)
	if got.Outcome != nil || !reflect.DeepEqual(got.Journal.Rounds()[0].Verdict, round.Verdict) {
		t.Errorf("got %+v", got)
	}
	if err := l.rec.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestReopenATornLog cuts a log at every byte: the session is resumed from what can be read, and
// what is appended can be read.
func TestReopenATornLog(t *testing.T) {
	t.Parallel()
	store, l := newTold(t)
	l.tell(loop.IterationStarted{Iteration: 1}, loop.DiffCaptured{Iteration: 1, Change: change}, loop.IterationFinished{Round: round},
		loop.IterationStarted{Iteration: 2}, loop.PhaseEntered{Iteration: 2, State: loop.ActorExecuting})
	if err := l.rec.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(l.rec.Path())
	if err != nil {
		t.Fatal(err)
	}
	for cut := bytes.IndexByte(whole, '\n'); cut <= len(whole); cut++ {
		if at := cut - bytes.LastIndexByte(whole[:cut], '\n'); testing.Short() && at > 2 && cut%17 != 0 && cut < len(whole)-2 {
			continue
		}
		for _, tail := range []string{"", "\x00\x00"} {
			reopenTorn(t, store, l.rec, append(whole[:cut:cut], tail...))
		}
	}
}

func reopenTorn(t *testing.T, store *session.Store, rec *session.Recorder, text []byte) {
	t.Helper()
	if err := os.WriteFile(rec.Path(), text, 0o600); err != nil {
		t.Fatal(err)
	}
	before, err := store.Course(rec.ID())
	if err != nil {
		t.Fatal(err)
	}
	again, course, err := store.Reopen(rec.ID())
	if err != nil || !reflect.DeepEqual(course, before) {
		t.Fatalf("cut at %d: %v\n got %+v\nwant %+v", len(text), err, course, before)
	}
	warned := loop.Warned{Text: "carried on"}
	if err := errors.Join(again.Handle(loop.Stamp{Seq: 99}, warned), again.Close()); err != nil {
		t.Fatal(err)
	}
	var last loop.Event
	for entry, err := range session.Read(rec.Path()) {
		if err != nil {
			t.Fatalf("cut at %d: %v", len(text), err)
		}
		last = entry.Event
	}
	after, err := store.Course(rec.ID())
	if err != nil || last != loop.Event(warned) || len(after.Journal.Rounds()) != len(before.Journal.Rounds()) || after.Tree.State != before.Tree.State || !reflect.DeepEqual(after.Tally, before.Tally) {
		t.Fatalf("cut at %d: %v, the last is %+v\n got %+v\nwant %+v", len(text), err, last, after, before)
	}
}

// TestCourseWithoutVerdict: the work of an iteration without a verdict is to be judged again until
// the actor's next turn.
func TestCourseWithoutVerdict(t *testing.T) {
	t.Parallel()
	lost := round
	lost.Attempt.Conversation, lost.Attempt.Usage = "c-1", loop.Usage{CostUSD: new(2.0)}
	lost.Review.Problem, lost.Verdict = "no decision", loop.Verdict{Decision: loop.Error}
	store, log := newTold(t)
	defer log.rec.Close()
	var got session.Course
	undecided := func(want bool) *loop.Journal {
		t.Helper()
		var err error
		got, err = store.Course(log.rec.ID())
		if err != nil || got.Journal.Undecided() != want || len(got.Journal.Rounds()) != 1 {
			t.Errorf("after %d lines: %+v, %v", log.seq, got.Journal, err)
		}
		return got.Journal
	}
	log.tell(loop.IterationStarted{Iteration: 1}, loop.ActorFinished{Iteration: 1, Attempt: lost.Attempt}, loop.IterationFinished{Round: lost})
	if past := undecided(true); past.Rounds()[0].Attempt.Stdout.Text != "first" {
		t.Errorf("the actor's text is %q", past.Rounds()[0].Attempt.Stdout.Text)
	}
	log.tell(loop.IterationStarted{Iteration: 2}, loop.PhaseEntered{Iteration: 2, State: loop.ActorExecuting})
	undecided(false)

	// After a stale DONE the run itself repeats the review.
	stale := lost
	stale.Review.Stale = []string{"a.txt"}
	store, log = newTold(t)
	defer log.rec.Close()
	log.tell(loop.ActorFinished{Iteration: 1, Attempt: lost.Attempt}, loop.IterationFinished{Round: stale},
		loop.IterationStarted{Iteration: 2}, loop.PhaseEntered{Iteration: 2, State: loop.ActorExecuting})
	undecided(true)

	store, log = newTold(t)
	defer log.rec.Close()
	log.tell(loop.ActorFinished{Iteration: 1, Attempt: lost.Attempt}, loop.IterationFinished{Round: lost},
		loop.Resumed{Iterations: 1, Rejudge: true}, loop.IterationStarted{Iteration: 2})
	undecided(true) // interrupted before anything was judged
	again := lost.Attempt
	again.Rejudged, again.Usage = true, loop.Usage{CostUSD: new(0.0)}
	log.tell(loop.ActorFinished{Iteration: 2, Attempt: again})
	past := undecided(false)
	pending := past.Pending()
	if pending == nil || pending.Stdout.Text != "first" || got.Tally.Spent.Total().CostUSD != 2 {
		t.Errorf("got %+v", got)
	}
}
