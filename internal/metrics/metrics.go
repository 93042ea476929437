// Package metrics adds up what a run came to, live or from its log.
package metrics

import (
	"time"

	"codeloops/internal/loop"
)

// A Tally is the [loop.Sink] that adds up a run. The zero value is ready. It
// is not safe for concurrent use; a copy of it is a snapshot.
//
// A log may hold whole iterations only, without the turns they are made of:
// what a turn has not been counted for is taken from its iteration.
type Tally struct {
	Iterations int // whole ones
	Errors     int // those of them that count as errors

	ActorTurns int
	Asks       int // turns of the critic, those whose reply was rejected included
	Leftovers  int // processes that agents left running

	ActorTime  time.Duration
	CriticTime time.Duration
	CheckTime  time.Duration

	// Waits for services stand beside the time of turns, and are no part of it.
	Waits      int
	ActorWait  time.Duration
	CriticWait time.Duration

	// ActorUsage and CriticUsage hold what the agents tell of their turns.
	ActorUsage  Usage
	CriticUsage Usage

	// Spent is what a budget is held against.
	Spent loop.Spending

	// FilesChanged, Insertions and Deletions are the last diff's.
	FilesChanged int
	Insertions   int
	Deletions    int

	acted, checked, reviewed int // the last iteration counted by the event of its own
}

// Handle adds an event. It never fails.
func (t *Tally) Handle(_ loop.Stamp, e loop.Event) error {
	switch e := e.(type) {
	case loop.WaitFinished:
		t.waited(e)
	case loop.ActorFinished:
		t.acted = e.Iteration
		t.actor(e.Attempt)
	case loop.DiffCaptured:
		t.diff(e.Change)
	case loop.ChecksFinished:
		t.checked = e.Iteration
		t.checks(e.Checks)
	case loop.ReviewRejected:
		t.critic(e.Review)
	case loop.CriticFinished:
		t.reviewed = e.Iteration
		t.critic(e.Review)
	case loop.IterationFinished:
		t.round(e.Round)
	case loop.Started, loop.Resumed, loop.IterationStarted, loop.PhaseEntered, loop.Activity, loop.WaitStarted,
		loop.Inspected, loop.BaselineChecked, loop.Warned, loop.Finished:
	}
	return nil
}

func (t *Tally) round(r loop.Round) {
	t.Iterations++
	if r.Failure != loop.StopNone {
		t.Errors++
	}
	if t.acted != r.Iteration {
		t.actor(r.Attempt)
	}
	if t.checked != r.Iteration {
		t.checks(r.Checks)
	}
	if t.reviewed != r.Iteration && !r.Unjudged {
		t.critic(r.Review)
	}
	t.diff(r.Change)
}

func (t *Tally) waited(e loop.WaitFinished) {
	t.Waits++
	if e.Role == loop.RoleCritic {
		t.CriticWait += e.Wait.Duration
	} else {
		t.ActorWait += e.Wait.Duration
	}
}

// Waited returns how long both roles have waited for services.
func (t *Tally) Waited() time.Duration { return t.ActorWait + t.CriticWait }

func (t *Tally) actor(a loop.Attempt) {
	if a.Rejudged {
		return
	}
	t.ActorTurns++
	t.ActorTime += a.Duration
	t.ActorUsage.turn(a.Turn)
	t.Spent.Add(loop.RoleActor, a.Turn)
	t.Leftovers += len(a.Leftovers)
}

func (t *Tally) critic(r loop.Review) {
	t.Asks++
	t.CriticTime += r.Duration
	t.CriticUsage.turn(r.Turn)
	t.Spent.Add(loop.RoleCritic, r.Turn)
	t.Leftovers += len(r.Leftovers)
}

func (t *Tally) checks(results []loop.CheckResult) {
	for _, c := range results {
		t.CheckTime += c.Duration
	}
}

func (t *Tally) diff(c loop.Change) {
	t.FilesChanged, t.Insertions, t.Deletions = c.Shape().Files, c.Insertions, c.Deletions
}
