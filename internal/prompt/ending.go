package prompt

import (
	"fmt"

	"codeloops/internal/loop"
)

// Ended says how a turn or a check ended, as the rest of a sentence that begins with "it".
func Ended(e loop.Ending, exitCode int) string {
	said := map[loop.Ending]string{
		loop.EndTimedOut:         "was cut off: it reached its time limit",
		loop.EndIdle:             "was cut off: it printed nothing for too long",
		loop.EndSpinning:         "was cut off: it asked its model again and again without doing anything",
		loop.EndOutputLimit:      "was cut off: it printed too much",
		loop.EndInterrupted:      "was interrupted",
		loop.EndEmpty:            "ended without a final message",
		loop.EndAuth:             "broke off: it is not signed in",
		loop.EndRateLimited:      "broke off: it reached a rate limit",
		loop.EndOutOfCredit:      "broke off: it is out of credit",
		loop.EndOverloaded:       "broke off: the model could not be reached",
		loop.EndContextTooLong:   "broke off: the prompt is too long for the model",
		loop.EndPermissionDenied: "broke off: something was not allowed",
	}[e]
	switch {
	case said != "":
		return said
	case exitCode < 0:
		return "was ended by a signal"
	case exitCode == 0 && e == loop.EndFailed:
		return "failed, with exit code 0"
	}
	return fmt.Sprintf("ended with exit code %d", exitCode)
}
