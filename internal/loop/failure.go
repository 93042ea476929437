package loop

import (
	"fmt"
	"strings"
)

// A Failure is a command of the agent that failed and did not succeed later in the turn, or
// something that the agent was not allowed to do.
type Failure struct {
	Act      string `json:"act"`                // "run `npm test`"
	ExitCode int    `json:"exit_code,omitzero"` // of a command; 0 if it was denied
	Denied   bool   `json:"denied,omitzero"`
}

// String says in some words what failed.
func (f Failure) String() string {
	if f.Denied {
		return "not allowed to " + f.Act
	}
	return fmt.Sprintf("%s ended with exit code %d", strings.TrimPrefix(f.Act, "run "), f.ExitCode)
}

// AllowIt is what to change where something was denied.
const AllowIt = "; allow it in the agent's settings, or in its command"

// Denied says what the agent was not allowed to do, and what to change; "" if it was allowed all.
func (e Execution) Denied() string {
	for _, f := range e.Failures {
		if f.Denied {
			return "it was not allowed to " + f.Act + AllowIt
		}
	}
	return ""
}
