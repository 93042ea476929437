package looptest

import (
	"fmt"
	"time"

	"codeloops/internal/loop"
)

// Whole returns an error unless events, stamped in order, are a complete run. Tests of sinks
// check their input and their output with it.
func Whole(events []loop.Event) error {
	var g Grammar
	for i, e := range events {
		if err := g.Handle(loop.Stamp{Seq: i + 1, Time: time.Unix(int64(i), 0)}, e); err != nil {
			return fmt.Errorf("event %d: %w", i+1, err)
		}
	}
	return g.End()
}
