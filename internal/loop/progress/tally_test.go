package progress

import (
	"reflect"
	"strconv"
	"testing"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/loop/looptest"
)

func turn(d time.Duration, leftovers int) loop.Turn {
	return loop.Turn{Execution: loop.Execution{Duration: d, Leftovers: make([]loop.Process, leftovers)}}
}

func change(files, insertions, deletions int) loop.Change {
	c := loop.Change{Insertions: insertions, Deletions: deletions}
	for n := range files {
		c.Files = append(c.Files, loop.FileChange{Path: strconv.Itoa(n)})
	}
	return c
}

// twoIterations is a run of two iterations; the critic of the first is asked twice.
func twoIterations() []loop.Event {
	first := loop.Round{
		Iteration: 1,
		Attempt:   loop.Attempt{Turn: turn(10*time.Second, 1)},
		Change:    change(1, 5, 2),
		Checks:    []loop.CheckResult{{Duration: time.Second}, {Duration: 2 * time.Second}},
		Review:    loop.Review{Turn: turn(4*time.Second, 2)},
		Failure:   loop.StopNoDecision,
	}
	second := loop.Round{
		Iteration: 2,
		Attempt:   loop.Attempt{Turn: turn(20*time.Second, 0)},
		Change:    change(3, 7, 1),
		Checks:    []loop.CheckResult{{Duration: time.Second}},
		Review:    loop.Review{Turn: turn(6*time.Second, 0)},
	}
	events := []loop.Event{loop.Started{}}
	add := func(e ...loop.Event) { events = append(events, e...) }
	for _, r := range []loop.Round{first, second} {
		n := r.Iteration
		r.Verdict.Decision = loop.Continue
		add(loop.IterationStarted{Iteration: n}, loop.PhaseEntered{Iteration: n, State: loop.ActorExecuting})
		add(waited(n, loop.RoleActor, time.Minute)...)
		add(loop.ActorFinished{Iteration: n, Attempt: r.Attempt},
			loop.PhaseEntered{Iteration: n, State: loop.CapturingDiff}, loop.DiffCaptured{Iteration: n, Change: r.Change},
			loop.PhaseEntered{Iteration: n, State: loop.Verifying}, loop.ChecksFinished{Iteration: n, Checks: r.Checks},
			loop.PhaseEntered{Iteration: n, State: loop.CriticEvaluating})
		if n == 1 {
			add(waited(n, loop.RoleCritic, time.Hour)...)
			add(loop.ReviewRejected{Iteration: n, Review: loop.Review{Turn: turn(3*time.Second, 1)}})
		}
		add(loop.CriticFinished{Iteration: n, Review: r.Review}, loop.IterationFinished{Round: r})
	}
	reason := loop.StopMaxIterations
	return append(events, loop.Finished{Outcome: loop.Outcome{Result: reason.Result(), Reason: reason, Iterations: 2}})
}

func waited(iteration int, role loop.Role, d time.Duration) []loop.Event {
	return []loop.Event{
		loop.WaitStarted{Iteration: iteration, Role: role},
		loop.WaitFinished{Iteration: iteration, Role: role, Wait: loop.Wait{Duration: d}},
	}
}

func tally(t *testing.T, events []loop.Event) Tally {
	t.Helper()
	var sum Tally
	for _, e := range events {
		if err := sum.Handle(loop.Stamp{}, e); err != nil {
			t.Fatal(err)
		}
	}
	sum.told = told{}
	return sum
}

// untold is the usage of agents that do not report any.
var untold = loop.Spent{TokensBasis: loop.Unknown, CostBasis: loop.Unknown}

func TestTally(t *testing.T) {
	t.Parallel()
	whole := Tally{
		Iterations: 2, Errors: 1, Leftovers: 4, CheckTime: 4 * time.Second, Waits: 3,
		Actor:  Part{Turns: 2, Time: 30 * time.Second, Wait: 2 * time.Minute},
		Critic: Part{Turns: 3, Time: 13 * time.Second, Wait: time.Hour},
		Diff:   Diff{FilesChanged: 3, Insertions: 7, Deletions: 1},
		Spent:  loop.Spending{Actor: untold, Critic: untold},
	}
	if err := looptest.Whole(twoIterations()); err != nil {
		t.Fatal(err)
	}
	if got := tally(t, twoIterations()); !reflect.DeepEqual(got, whole) {
		t.Errorf("all events\n got %+v\nwant %+v", got, whole)
	}

	// A log with whole iterations only does not contain the rejected review.
	var rounds []loop.Event
	for _, e := range twoIterations() {
		if _, ok := e.(loop.IterationFinished); ok {
			rounds = append(rounds, e)
		}
	}
	want := whole
	want.Critic.Turns, want.Leftovers, want.Critic.Time = 2, 3, 10*time.Second
	want.Waits, want.Actor.Wait, want.Critic.Wait = 0, 0, 0
	if got := tally(t, rounds); !reflect.DeepEqual(got, want) {
		t.Errorf("iterations only\n got %+v\nwant %+v", got, want)
	}
}

func TestTallyOfAnIterationCutShort(t *testing.T) {
	t.Parallel()
	events := twoIterations()
	want := Tally{Spent: loop.Spending{Actor: untold}, Waits: 1, Actor: Part{Turns: 1, Time: 10 * time.Second, Wait: time.Minute}, Leftovers: 1, Diff: Diff{FilesChanged: 1, Insertions: 5, Deletions: 2}}
	if got := tally(t, append(events[:8:8], loop.Finished{})); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

// TestRetypedIsOne: a file that became a symbolic link counts as one file, as in git.
func TestRetypedIsOne(t *testing.T) {
	t.Parallel()
	var tally Tally
	change := loop.Change{Files: []loop.FileChange{
		{Path: "f", Status: loop.FileDeleted, OldMode: 0o100644}, {Path: "f", Status: loop.FileAdded, NewMode: 0o120000},
	}}
	if err := tally.Handle(loop.Stamp{}, loop.DiffCaptured{Iteration: 1, Change: change}); err != nil {
		t.Fatal(err)
	}
	if tally.FilesChanged != 1 {
		t.Errorf("it counts as %d", tally.FilesChanged)
	}
}
