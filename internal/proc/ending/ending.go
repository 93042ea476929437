// Package ending says in the words of package loop how a process ended, and what it printed.
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

// Output returns what a process printed. It names the file even when nothing is omitted: its
// secrets must be redacted as long as it exists.
func Output(c proc.Captured) loop.Output {
	return loop.Output{Text: string(c.Text), Total: c.Total, Omitted: c.Omitted, File: c.File}
}
