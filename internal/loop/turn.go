package loop

import "time"

// A Role is the part an agent plays in a turn.
type Role string

// The two roles.
const (
	RoleActor  Role = "actor"
	RoleCritic Role = "critic"
)

// An AgentRef names who plays a role: an agent of the catalogue or of the
// user's own, with the model asked for ("" is the agent's default).
type AgentRef struct {
	Agent string
	Model string
}

// A Brief is what the actor is asked in one turn.
type Brief struct {
	Iteration int
	Task      string // the user's prompt, always
	// Previous is the round before this one; nil in the first iteration.
	Previous *Round
}

// An Ending says how an agent's turn came to its end.
type Ending string

// The endings of a turn. EndCompleted is the only one in which the agent's
// process ended by itself with exit code 0.
const (
	EndCompleted   Ending = "completed"
	EndFailed      Ending = "failed"       // exit code other than 0, or killed by a foreign signal
	EndTimedOut    Ending = "timed_out"    // stopped: the turn's time limit
	EndIdle        Ending = "idle"         // stopped: no output for the idle limit
	EndOutputLimit Ending = "output_limit" // stopped: more output than max_output
	EndInterrupted Ending = "interrupted"  // stopped: the run was cancelled
)

// Cut reports whether codeloops stopped the turn before the agent was through.
func (e Ending) Cut() bool {
	return e == EndTimedOut || e == EndIdle || e == EndOutputLimit || e == EndInterrupted
}

// An Output is what is kept of one stream of a process: all of it, or its
// head and its tail with a line between them that names what was left out.
type Output struct {
	Text    string
	Total   int64  // bytes that the process wrote
	Omitted int64  // bytes that Text does not hold
	File    string // where the whole stands while Omitted > 0
}

// A Process is one that an agent left running when its turn ended.
type Process struct {
	PID     int
	Command string
}

// A Turn is what is known of one finished turn of an agent, whatever its role.
type Turn struct {
	Stdout   Output
	Stderr   Output
	ExitCode int // -1 when a signal ended the process
	Ending   Ending
	Duration time.Duration
	// Leftovers are the processes that were still there when the agent's own
	// process had ended. They have been ended since.
	Leftovers []Process
}

// An Attempt is what one turn of the actor left, its change apart.
type Attempt struct {
	Turn
}

// A CheckResult is one of the project's own check commands, run and judged.
type CheckResult struct {
	Command  string
	ExitCode int // -1 when a signal ended it
	Ending   Ending
	Duration time.Duration
	Output   Output // stdout and stderr as they came
}

// Passed reports whether the check ended by itself with exit code 0.
func (c CheckResult) Passed() bool { return c.Ending == EndCompleted && c.ExitCode == 0 }

// A Watch is told what an agent prints while its turn lasts: the stream
// ("stdout" or "stderr") with whole lines where the agent writes lines. It may
// be called from any goroutine, never concurrently with itself.
type Watch func(stream, text string)
