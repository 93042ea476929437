package export_test

import (
	"strings"
	"testing"

	"codeloops/internal/loop"
)

// TestFailure: the reason why an iteration counts as an error is shown if the verdict does not give
// it. The limit of errors in a row is not such a reason.
func TestFailure(t *testing.T) {
	t.Parallel()
	failed := loop.Verdict{Decision: loop.Error, Analysis: "it does not compile"}
	escalated := loop.Verdict{Decision: loop.Error, Escalation: "only a person knows"}
	for name, c := range map[string]struct {
		round loop.Round
		want  string // "" means no row
	}{
		"escalated":     {loop.Round{Ruling: loop.Ruling{Verdict: escalated}, Failure: loop.StopConsecutiveErrors}, ""},
		"error":         {loop.Round{Ruling: loop.Ruling{Verdict: failed}, Failure: loop.StopConsecutiveErrors}, ""},
		"timed out":     {loop.Round{Ruling: loop.Ruling{Verdict: failed}, Failure: loop.StopActorTimeout}, "the actor took too long"},
		"actor impeded": {loop.Round{Ruling: loop.Ruling{Verdict: loop.Verdict{Decision: loop.Continue}}, Failure: loop.StopConsecutiveErrors}, "the actor could not finish its turn"},
		"not a failure": {loop.Round{Ruling: loop.Ruling{Verdict: loop.Verdict{Decision: loop.Continue}}}, ""},
	} {
		c.round.Iteration = 1
		c.round.Review.Verdict = c.round.Verdict
		out := onScreen(t, 80, loop.IterationFinished{Round: c.round})
		_, row, found := strings.Cut(out, "  failure    ")
		row, _, _ = strings.Cut(row, "\n")
		if found != (c.want != "") || row != c.want {
			t.Errorf("%s: %q, want %q\n%s", name, row, c.want, out)
		}
	}
}

// TestFeedbackIsWrapped: nothing of what the critic demands is cut at the width of the screen.
func TestFeedbackIsWrapped(t *testing.T) {
	t.Parallel()
	const feedback = "- the first point is long enough to be broken at the end of a narrow line, LAST\n- second"
	round := loop.Round{Iteration: 1, Ruling: loop.Ruling{Verdict: loop.Verdict{Decision: loop.Continue, Feedback: feedback}}}
	round.Review.Verdict = round.Verdict
	out := onScreen(t, 50, loop.IterationFinished{Round: round})
	const want = "    - the first point is long enough to be\n      broken at the end of a narrow line, LAST\n    - second\n"
	if !strings.Contains(out, want) {
		t.Errorf("%s", out)
	}
}

// onScreen returns what a screen shows of a session.
func onScreen(t *testing.T, width int, events ...loop.Event) string {
	t.Helper()
	var c course
	for _, e := range events {
		c.add("", e)
	}
	return c.shown(t, width)
}
