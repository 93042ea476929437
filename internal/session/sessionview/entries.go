package sessionview

import (
	"fmt"
	"iter"
	"slices"

	"codeloops/internal/loop"
	"codeloops/internal/screen/words"
	"codeloops/internal/session"
)

// Entries are the lines of a log, as [session.Reader.Entries] yields them.
type Entries = iter.Seq2[session.Entry, error]

// A MissingError says that a log does not hold the requested iteration.
type MissingError struct {
	ID        string
	Iteration int // 0: any
	Last      int // the last one in the log, 0: none
}

func (e *MissingError) Error() string {
	if e.Last == 0 {
		return fmt.Sprintf("session %s has no finished iteration", e.ID)
	}
	return fmt.Sprintf("session %s has no iteration %d; the last one is %d", e.ID, e.Iteration, e.Last)
}

// Why says in brackets why a session ended; "" if its outcome says it.
func Why(o session.Overview) string {
	if o.Outcome == nil {
		return ""
	}
	return bracketed(*o.Outcome)
}

func bracketed(o loop.Outcome) string {
	plain := []loop.StopReason{loop.StopNone, loop.StopDone, loop.StopMaxIterations, loop.StopInterrupted}
	if slices.Contains(plain, o.Reason) && !o.Bounded() {
		return ""
	}
	return " (" + words.End(o) + ")"
}
