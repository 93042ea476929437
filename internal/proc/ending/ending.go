// Package ending says, in the words of loop, why a process was stopped.
package ending

import (
	"codeloops/internal/loop"
	"codeloops/internal/proc"
)

// Of returns the ending of a turn or a check that was stopped; ok is false
// for a process that ended by itself.
func Of(why proc.Stop) (e loop.Ending, ok bool) {
	switch why {
	case proc.StopTimeout:
		return loop.EndTimedOut, true
	case proc.StopIdle:
		return loop.EndIdle, true
	case proc.StopOutputLimit:
		return loop.EndOutputLimit, true
	case proc.StopCancelled:
		return loop.EndInterrupted, true
	case proc.StopNone:
	}
	return "", false
}
