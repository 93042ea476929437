package sessionview_test

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/lipgloss"

	"codeloops/internal/loop"
	"codeloops/internal/session"
	"codeloops/internal/session/sessionview"
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
		var out bytes.Buffer
		d := sessionview.Details{Page: sessionview.Page{Out: &out, Screen: sessionview.Screen{Width: 80, Style: lipgloss.NewRenderer(io.Discard)}}, Zone: time.UTC}
		c.round.Iteration = 1
		c.round.Review.Verdict = c.round.Verdict
		err := d.Show(session.Overview{}, func(yield func(session.Entry, error) bool) {
			yield(session.Entry{Event: loop.IterationFinished{Round: c.round}}, nil)
		})
		_, row, found := strings.Cut(out.String(), "  failure    ")
		row, _, _ = strings.Cut(row, "\n")
		if err != nil || found != (c.want != "") || row != c.want {
			t.Errorf("%s: %q, want %q (%v)\n%s", name, row, c.want, err, out.String())
		}
	}
}

// TestFeedbackIsWrapped: nothing of what the critic demands is cut at the width of the screen.
func TestFeedbackIsWrapped(t *testing.T) {
	t.Parallel()
	const feedback = "- the first point is long enough to be broken at the end of a narrow line, LAST\n- second"
	round := loop.Round{Iteration: 1, Ruling: loop.Ruling{Verdict: loop.Verdict{Decision: loop.Continue, Feedback: feedback}}}
	round.Review.Verdict = round.Verdict
	var out bytes.Buffer
	d := sessionview.Details{Page: sessionview.Page{Out: &out, Screen: sessionview.Screen{Width: 50, Style: lipgloss.NewRenderer(io.Discard)}}, Zone: time.UTC}
	err := d.Show(session.Overview{}, func(yield func(session.Entry, error) bool) {
		yield(session.Entry{Event: loop.IterationFinished{Round: round}}, nil)
	})
	const want = "    - the first point is long enough to be\n      broken at the end of a narrow line, LAST\n    - second\n"
	if err != nil || !strings.Contains(out.String(), want) {
		t.Errorf("%v\n%s", err, out.String())
	}
}
