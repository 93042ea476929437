package verdict_test

import (
	"strings"
	"testing"
	"time"

	"codeloops/internal/critic/verdict"
)

// TestLargePoints: many decisions, and a point of many lines, are read in a moment. In quadratic time
// these would take minutes.
func TestLargePoints(t *testing.T) {
	t.Parallel()
	began := time.Now()
	lines := strings.Repeat("some words in a line\n", 50_000)
	for _, reply := range []string{strings.Repeat("DECISION: DONE\nSUMMARY: a\n", 4900), lines + "DECISION: DONE\nSUMMARY: x", "DECISION: DONE\nSUMMARY: x\n" + lines} {
		_, _, _ = verdict.Parser{Seal: "k7f2qx"}.Read(reply)
	}
	if all := verdict.Points("- " + lines); len(all) != 1 {
		t.Errorf("%d points", len(all))
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("it took %v", took)
	}
}
