package looptest

import (
	"fmt"
	"time"

	"codeloops/internal/loop"
)

// Whole reports whether events, stamped one after the other, are a whole run. A sink's
// test holds what it hands to the sink to it, and what the sink hands on or keeps.
func Whole(events []loop.Event) error {
	var g Grammar
	for i, e := range events {
		if err := g.Handle(loop.Stamp{Seq: i + 1, Time: time.Unix(int64(i), 0)}, e); err != nil {
			return fmt.Errorf("event %d: %w", i+1, err)
		}
	}
	return g.End()
}
