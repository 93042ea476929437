package transcript

import (
	"fmt"
	"testing"

	"codeloops/internal/loop"
)

// An unknown event whose name says that the turn broke off makes the turn fail. Other
// unknown events are ignored.
func TestUnknownEventsThatBreakOff(t *testing.T) {
	t.Parallel()
	for _, e := range allEnds() {
		if e.format == "text" {
			continue
		}
		for kind, broken := range map[string]bool{
			"turn.aborted": true, "abort": true, "cancelled": true, "session.interrupted": true, "run_failed": true, "session.error.of.tomorrow": false,
			"tool.failed": false, "hook_error": false, "stream_error": false, "of.tomorrow": false, "session.idle": false,
		} {
			event := fmt.Sprintf(`{"type":%q,"reason":"trouble"}`, kind)
			good := ""
			if len(e.good) > 0 {
				good = e.good[0]
			}
			d, _ := New(e.format, 1<<10, nil)
			fmt.Fprintf(d, e.turn, good, event)
			if r := d.Report(); (r.Ending == loop.EndFailed) != broken {
				t.Errorf("%s, %s: the turn ended as %q, because of %q", e.format, kind, r.Ending, r.Reason)
			}
		}
	}
}
