package loop

import "time"

// A Wait is a pause during a turn because a service is unavailable; it is asked again when the
// wait is over.
type Wait struct {
	Agent  AgentRef  // whose service it is
	Cause  Ending    // [EndRateLimited] or [EndOverloaded]
	Reason string    // the agent's own words, "" if it has none
	Until  time.Time // planned end

	// The result; zero while it lasts.
	Duration time.Duration
	End      WaitEnd
}

// A WaitEnd says what ended a wait.
type WaitEnd string

// The ends of a wait.
const (
	WaitOver        WaitEnd = "over"        // the time was up
	WaitHurried     WaitEnd = "hurried"     // the user did not want to wait
	WaitInterrupted WaitEnd = "interrupted" // the run was cancelled
)

// WaitStarted says that a turn is waiting for a service.
type WaitStarted struct {
	Iteration int
	Role      Role
	Wait      Wait
}

// WaitFinished closes a wait. The agent is asked again unless the run was cancelled.
type WaitFinished struct {
	Iteration int
	Role      Role
	Wait      Wait
}

func (e WaitStarted) iteration() int  { return e.Iteration }
func (e WaitFinished) iteration() int { return e.Iteration }
