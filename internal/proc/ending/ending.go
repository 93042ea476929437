// Package ending maps the reason why a process was stopped to an ending of package loop.
package ending

import (
	"codeloops/internal/loop"
	"codeloops/internal/proc"
)

// Of returns the ending of a turn or check that was stopped; ok is false for a process
// that ended by itself.
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
