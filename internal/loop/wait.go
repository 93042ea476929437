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

func (e WaitStarted) iteration() int  { return e.Iteration }
func (e WaitFinished) iteration() int { return e.Iteration }
