package progress

import "codeloops/internal/loop"

// An Instant is what an agent did at one moment of a run. It is in no log: the run tells those who ask.
type Instant struct {
	After int // the sequence number of the last event logged before it
	At    loop.Stamp
	Does  loop.Activity
}
