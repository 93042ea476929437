package prompt

import (
	"fmt"

	"codeloops/internal/loop"
)

// Ended says how a turn or a check ended, as the rest of a sentence that begins with "it".
func Ended(e loop.Ending, exitCode int) string { //nolint:gocyclo // the steps belong together, and read top to bottom
	switch e {
	case loop.EndTimedOut:
		return "was cut off: it reached its time limit"
	case loop.EndIdle:
		return "was cut off: it printed nothing for too long"
	case loop.EndSpinning:
		return "was cut off: it asked its model again and again without doing anything"
	case loop.EndOutputLimit:
		return "was cut off: it printed too much"
	case loop.EndInterrupted:
		return "was interrupted"
	case loop.EndEmpty:
		return "ended without a final message"
	case loop.EndAuth:
		return "broke off: it is not signed in"
	case loop.EndRateLimited:
		return "broke off: it reached a rate limit"
	case loop.EndOutOfCredit:
		return "broke off: it is out of credit"
	case loop.EndOverloaded:
		return "broke off: the model could not be reached"
	case loop.EndContextTooLong:
		return "broke off: the prompt is too long for the model"
	case loop.EndPermissionDenied:
		return "broke off: something was not allowed"
	case loop.EndFailed, loop.EndCompleted:
	}
	switch {
	case exitCode < 0:
		return "was ended by a signal"
	case exitCode == 0 && e == loop.EndFailed:
		return "failed, with exit code 0"
	}
	return fmt.Sprintf("ended with exit code %d", exitCode)
}
