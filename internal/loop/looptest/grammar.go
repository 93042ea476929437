// Package looptest checks that a stream of events follows the grammar of package loop.
package looptest

import (
	"fmt"
	"strconv"
	"time"

	"codeloops/internal/loop"
)

// A Grammar is a [loop.Sink] that checks the events of one run and returns an error for the first
// one that is out of place. The zero value expects Started or Resumed.
type Grammar struct {
	machine   loop.Machine
	place     place
	iteration int
	stamp     loop.Stamp
	whole     int                // finished iterations
	waits     bool               // the actor's or critic's turn is waiting
	standing  map[loop.Step]bool // other turns that are waiting
	again     bool               // the next attempt is the last one, judged again
	err       error
}

type place uint8

const (
	before place = iota
	between
	within
	reviewed
	after
)

// Handle checks one event.
func (g *Grammar) Handle(at loop.Stamp, e loop.Event) error {
	if g.err == nil {
		g.err = g.take(at, e)
	}
	return g.err
}

// End returns an error unless the stream was complete.
func (g *Grammar) End() error {
	if g.err == nil && g.place != after {
		return fmt.Errorf("the stream has no end: %d events", g.stamp.Seq)
	}
	return g.err
}

func (g *Grammar) take(at loop.Stamp, e loop.Event) error {
	if at.Seq != g.stamp.Seq+1 || at.Time.Before(g.stamp.Time) {
		return fmt.Errorf("%T is stamped %v after %v", e, at, g.stamp)
	}
	g.stamp = at
	if err := placed(at.Step, e); err != nil {
		return err
	}
	if again, ok := e.(loop.Resumed); ok {
		return g.resume(again)
	}
	if err := g.ends(e); err != nil {
		return err
	}
	if err := g.still(e); err != nil {
		return err
	}
	return g.step(e)
}

// placed checks an event against the step in its stamp: both belong to the same iteration, and a
// turn's step has the name of its role. Events from tests and old logs have no step.
func placed(step loop.Step, e loop.Event) error {
	if step == "" {
		return nil
	}
	_, starts := e.(loop.Started)
	_, resumes := e.(loop.Resumed)
	_, ends := e.(loop.Finished)
	if starts || resumes || ends {
		return fmt.Errorf("%T is of the step %s, and not of the session", e, step)
	}
	iteration, role := loop.IterationOf(e), roleOf(e)
	if step.Iteration() != iteration {
		return fmt.Errorf("%T of iteration %d is of the step %s", e, iteration, step)
	}
	actors := role == loop.RoleActor || role == loop.RoleCritic // a strategy names the steps of other roles
	if actors && !step.In(loop.Step(strconv.Itoa(iteration)).Sub(string(role))) {
		return fmt.Errorf("%T of the %s is of the step %s", e, role, step)
	}
	return nil
}

// roleOf returns the role whose turn an event is about, "" for none.
func roleOf(e loop.Event) loop.Role {
	switch e := e.(type) { //nolint:gochecksumtype // the others are about no turn
	case loop.Activity:
		return e.Role
	case loop.WaitStarted:
		return e.Role
	case loop.WaitFinished:
		return e.Role
	case loop.TurnStarted:
		return e.Role
	case loop.TurnFinished:
		return e.Role
	case loop.ActorFinished:
		return loop.RoleActor
	case loop.ReviewRejected, loop.CriticFinished:
		return loop.RoleCritic
	}
	return ""
}

func (g *Grammar) step(e loop.Event) error {
	switch e := e.(type) {
	case loop.Started:
		g.place = between
	case loop.IterationStarted:
		return g.open(e)
	case loop.PhaseEntered:
		return g.enter(e)
	case loop.WaitStarted, loop.WaitFinished:
		_, begins := e.(loop.WaitStarted)
		return g.waiting(e, roleOf(e), begins)
	case loop.ActorFinished:
		return g.attempt(e)
	case loop.DiffCaptured, loop.Inspected:
		return g.in(e, loop.CapturingDiff)
	case loop.BaselineChecked:
		return g.baseline()
	case loop.ChecksFinished:
		return g.checks(e)
	case loop.ReviewRejected:
		return g.in(e, loop.CriticEvaluating)
	case loop.CriticFinished:
		return g.reviewed(e)
	case loop.IterationFinished:
		return g.close(e.Round)
	case loop.Noted, loop.TurnStarted, loop.TurnFinished:
		g.aside(e)
	case loop.Finished:
		return g.end(e.Outcome)
	case loop.Activity, loop.Warned, loop.Resumed, loop.Steered:
	}
	return nil
}

func (g *Grammar) reviewed(e loop.CriticFinished) error {
	err := g.in(e, loop.CriticEvaluating)
	g.place = reviewed
	return err
}

func (g *Grammar) attempt(e loop.ActorFinished) error {
	if e.Attempt.Rejudged != g.again {
		return fmt.Errorf("the attempt of iteration %d is rejudged: %t, want %t", e.Iteration, e.Attempt.Rejudged, g.again)
	}
	g.again = false
	return g.in(e, loop.ActorExecuting)
}

func (g *Grammar) baseline() error {
	if g.place != between || g.iteration != 0 {
		return fmt.Errorf("the baseline was checked in iteration %d", g.iteration)
	}
	return nil
}

func (g *Grammar) checks(e loop.ChecksFinished) error {
	if g.place == reviewed && e.Iteration == g.iteration { // again for a DONE
		return nil
	}
	return g.in(e, loop.Verifying)
}

// aside handles a step of the strategy's own, after which it may go on after a DONE.
func (g *Grammar) aside(e loop.Event) {
	if n, ok := e.(loop.Noted); ok && n.Name == loop.NoteRejudge {
		g.again = true
	}
	if g.machine.State() == loop.DecidedDone {
		g.machine = loop.Machine{}
	}
}

// resume continues a run that broke off or ended, in this stream or in one that was not seen.
func (g *Grammar) resume(e loop.Resumed) error {
	if seen := g.place != before; seen && e.Iterations != g.whole {
		return fmt.Errorf("resumed after %d iterations, there were %d", e.Iterations, g.whole)
	}
	g.machine, g.waits, g.standing, g.again = loop.Machine{}, false, nil, e.Rejudge
	g.place, g.iteration, g.whole = between, e.Iterations, e.Iterations
	if !e.Judge {
		return nil
	}
	if e.Rejudge {
		return fmt.Errorf("after %d iterations both the last work and the next one are to be judged", e.Iterations)
	}
	g.place, g.iteration = within, e.Iterations+1
	return g.machine.To(loop.ActorExecuting)
}

// ends rejects events before the start or after the end.
func (g *Grammar) ends(e loop.Event) error {
	if g.place == after {
		return fmt.Errorf("%T after the end", e)
	}
	_, start := e.(loop.Started)
	_, end := e.(loop.Finished) // even if the start could not be recorded
	if start != (g.place == before) && !end {
		return fmt.Errorf("%T where the run stands at %d", e, g.place)
	}
	return nil
}

// still rejects what cannot happen while a turn is waiting, and the end of a wait that has not
// begun.
func (g *Grammar) still(e loop.Event) error {
	if role := roleOf(e); role != "" && role != loop.RoleActor && role != loop.RoleCritic {
		return nil // it may wait on its own
	}
	_, ends := e.(loop.WaitFinished)
	_, says := e.(loop.Activity)
	_, warns := e.(loop.Warned)
	_, steers := e.(loop.Steered)
	_, breaks := e.(loop.Finished) // the end of the wait could not be recorded
	if ends != g.waits && !says && !warns && !steers && !breaks {
		return fmt.Errorf("%T where waiting is %t", e, g.waits)
	}
	return nil
}

// waiting checks that a wait belongs to a turn of its role.
func (g *Grammar) waiting(e loop.Event, role loop.Role, begins bool) error {
	if role != loop.RoleActor && role != loop.RoleCritic {
		return g.stands(e, begins)
	}
	g.waits = begins
	if role == loop.RoleActor {
		return g.in(e, loop.ActorExecuting)
	}
	return g.in(e, loop.CriticEvaluating)
}

// stands pairs the waits of the strategy's own turns.
func (g *Grammar) stands(e loop.Event, begins bool) error {
	if g.standing[g.stamp.Step] == begins {
		return fmt.Errorf("%T of the step %s, where waiting is %t", e, g.stamp.Step, begins)
	}
	if g.standing == nil {
		g.standing = map[loop.Step]bool{}
	}
	g.standing[g.stamp.Step] = begins
	return nil
}

func (g *Grammar) open(e loop.IterationStarted) error {
	if g.place != between || e.Iteration != g.iteration+1 {
		return fmt.Errorf("iteration %d opened after %d", e.Iteration, g.iteration)
	}
	g.iteration, g.place = e.Iteration, within
	return nil
}

func (g *Grammar) enter(e loop.PhaseEntered) error {
	if g.place != within || e.Iteration != g.iteration {
		return fmt.Errorf("phase %v of iteration %d outside of it", e.State, e.Iteration)
	}
	return g.machine.To(e.State)
}

func (g *Grammar) in(e loop.Event, s loop.State) error {
	iteration := loop.IterationOf(e)
	if g.place != within || iteration != g.iteration || g.machine.State() != s {
		return fmt.Errorf("%T of iteration %d in %v of iteration %d", e, iteration, g.machine.State(), g.iteration)
	}
	return nil
}

func (g *Grammar) close(r loop.Round) error {
	if r.Unjudged && g.place == within { // the rules take the critic's place
		if err := g.machine.To(loop.CriticEvaluating); err != nil {
			return err
		}
		g.place = reviewed
	}
	if g.place != reviewed || r.Iteration != g.iteration {
		return fmt.Errorf("iteration %d closed at %d of iteration %d", r.Iteration, g.place, g.iteration)
	}
	g.place, g.again = between, r.JudgedAgain()
	g.whole++
	next, ok := loop.ParseState(string(r.Verdict.Decision))
	if !ok {
		return fmt.Errorf("iteration %d has the decision %q", r.Iteration, r.Verdict.Decision)
	}
	return g.machine.To(next)
}

func (g *Grammar) end(o loop.Outcome) error {
	g.place = after
	if o.Iterations != g.whole {
		return fmt.Errorf("the end counts %d iterations, there were %d", o.Iterations, g.whole)
	}
	if o.Result != o.Reason.Result() {
		return fmt.Errorf("the result %q does not go with the reason %q", o.Result, o.Reason)
	}
	return g.machine.To(loop.Ended)
}

// Whole returns an error unless events, stamped in order, are a complete run. Tests of sinks
// check their input and their output with it.
func Whole(events []loop.Event) error {
	var g Grammar
	for i, e := range events {
		if err := g.Handle(loop.Stamp{Seq: i + 1, Time: time.Unix(int64(i), 0)}, e); err != nil {
			return fmt.Errorf("event %d: %w", i+1, err)
		}
	}
	return g.End()
}
