package metrics

import (
	"strconv"
	"testing"
	"time"

	"codeloops/internal/loop"
)

func turn(d time.Duration, leftovers int) loop.Turn {
	return loop.Turn{Duration: d, Leftovers: make([]loop.Process, leftovers)}
}

func change(files, insertions, deletions int) loop.Change {
	c := loop.Change{Insertions: insertions, Deletions: deletions}
	for n := range files {
		c.Files = append(c.Files, loop.FileChange{Path: strconv.Itoa(n)})
	}
	return c
}

// twoIterations is a run of two iterations, the first with two asks.
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
	for _, r := range []loop.Round{first, second} {
		events = append(events, loop.IterationStarted{Iteration: r.Iteration},
			loop.WaitStarted{Iteration: r.Iteration, Role: loop.RoleActor},
			loop.WaitFinished{Iteration: r.Iteration, Role: loop.RoleActor, Wait: loop.Wait{Duration: time.Minute}},
			loop.ActorFinished{Iteration: r.Iteration, Attempt: r.Attempt},
			loop.DiffCaptured{Iteration: r.Iteration, Change: r.Change},
			loop.ChecksFinished{Iteration: r.Iteration, Checks: r.Checks})
		if r.Iteration == 1 {
			events = append(events, loop.WaitFinished{Iteration: 1, Role: loop.RoleCritic, Wait: loop.Wait{Duration: time.Hour}},
				loop.ReviewRejected{Iteration: 1, Review: loop.Review{Turn: turn(3*time.Second, 1)}})
		}
		events = append(events, loop.CriticFinished{Iteration: r.Iteration, Review: r.Review}, loop.IterationFinished{Round: r})
	}
	return append(events, loop.Finished{})
}

func tally(t *testing.T, events []loop.Event) Tally {
	t.Helper()
	var sum Tally
	for _, e := range events {
		if err := sum.Handle(loop.Stamp{}, e); err != nil {
			t.Fatal(err)
		}
	}
	sum.acted, sum.checked, sum.reviewed = 0, 0, 0
	return sum
}

// untold is what agents have cost that keep silent about it.
var untold = loop.Spent{TokensBasis: loop.Unknown, CostBasis: loop.Unknown}

func TestTally(t *testing.T) {
	t.Parallel()
	whole := Tally{
		Iterations: 2, Errors: 1, ActorTurns: 2, Asks: 3, Leftovers: 4,
		ActorTime: 30 * time.Second, CriticTime: 13 * time.Second, CheckTime: 4 * time.Second,
		Waits: 3, ActorWait: 2 * time.Minute, CriticWait: time.Hour,
		FilesChanged: 3, Insertions: 7, Deletions: 1,
		Spent: loop.Spending{Actor: untold, Critic: untold},
	}
	if got := tally(t, twoIterations()); got != whole {
		t.Errorf("all events\n got %+v\nwant %+v", got, whole)
	}

	// A log with whole iterations only knows nothing of the rejected review.
	var rounds []loop.Event
	for _, e := range twoIterations() {
		if _, ok := e.(loop.IterationFinished); ok {
			rounds = append(rounds, e)
		}
	}
	want := whole
	want.Asks, want.Leftovers, want.CriticTime = 2, 3, 10*time.Second
	want.Waits, want.ActorWait, want.CriticWait = 0, 0, 0
	if got := tally(t, rounds); got != want {
		t.Errorf("iterations only\n got %+v\nwant %+v", got, want)
	}
}

func TestTallyOfAnIterationCutShort(t *testing.T) {
	t.Parallel()
	events := twoIterations()
	want := Tally{Spent: loop.Spending{Actor: untold}, Waits: 1, ActorWait: time.Minute, ActorTurns: 1, Leftovers: 1, ActorTime: 10 * time.Second, FilesChanged: 1, Insertions: 5, Deletions: 2}
	if got := tally(t, append(events[:6:6], loop.Finished{})); got != want {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

// A file that became a symbolic link is one file, as git counts it.
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
