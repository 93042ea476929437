package loop

import "time"

// A Wait is a pause within a turn: a service is in the way, and is not asked
// again before the wait is over.
type Wait struct {
	Agent  AgentRef  // whose service it is
	Cause  Ending    // [EndRateLimited] or [EndOverloaded]
	Reason string    // the agent's own sentence, "" when it has none
	Until  time.Time // when it is to end

	// What it came to; zero while it lasts.
	Duration time.Duration
	End      WaitEnd
}

// A WaitEnd says what ended a wait.
type WaitEnd string

// The ends of a wait.
const (
	WaitOver        WaitEnd = "over"        // its time
	WaitHurried     WaitEnd = "hurried"     // somebody who would not wait
	WaitInterrupted WaitEnd = "interrupted" // the run's context
)

// WaitStarted says that the turn under way stands still for a service.
type WaitStarted struct {
	Iteration int
	Role      Role
	Wait      Wait
}

// WaitFinished closes a wait. The agent is asked again, unless the run was
// cancelled.
type WaitFinished struct {
	Iteration int
	Role      Role
	Wait      Wait
}

func (WaitStarted) isEvent()  {}
func (WaitFinished) isEvent() {}

// watch returns what makes the notices of an agent events of the run.
func (r *run) watch(iteration int, role Role) Watch {
	return func(n Notice) {
		var e Event = Activity{Iteration: iteration, Role: role, Notice: n}
		if n.Wait != nil {
			e = r.waits(iteration, role, *n.Wait)
		}
		if err := r.emit(e); err != nil {
			r.abort(err) // a turn, or a wait of hours, would be for nothing
		}
	}
}

func (r *run) waits(iteration int, role Role, w Wait) Event {
	if w.End == "" {
		return WaitStarted{Iteration: iteration, Role: role, Wait: w}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waited += w.Duration
	return WaitFinished{Iteration: iteration, Role: role, Wait: w}
}

// takeWaited returns how long the phase under way has stood still.
func (r *run) takeWaited() (d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	d, r.waited = r.waited, 0
	return d
}
