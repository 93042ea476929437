package render

import (
	"fmt"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/term"
)

// compact shows one line for each iteration.
type compact struct {
	page
}

func (c *compact) Handle(at loop.Stamp, e loop.Event) error {
	c.keep(at, e)
	switch e := e.(type) {
	case loop.Resumed:
		return c.say("resumed after %s", count(e.Iterations, "iteration", "iterations"))
	case loop.IterationFinished:
		return c.round(e.Round)
	case loop.Inspected:
		for _, text := range concerns(e.Inspection) {
			if err := c.say("#%d %s", e.Iteration, text); err != nil {
				return err
			}
		}
	case loop.Warned:
		return c.say("#%d warning: %s", e.Iteration, term.Line(e.Text))
	case loop.Finished:
		return c.end(e.Outcome)
	case loop.WaitStarted:
		return c.say("#%d %s: %s", e.Iteration, e.Role, waiting(e.Wait, c.Zone))
	case loop.Activity:
		if e.Kind == loop.NoticeChange {
			return c.say("#%d %s: %s", e.Iteration, e.Role, term.Line(e.Text))
		}
		if c.Verbose {
			return c.say("#%d %s: %s", e.Iteration, e.Role, cut(term.Line(e.Text), c.Width-12))
		}
	case loop.Started, loop.IterationStarted, loop.PhaseEntered, loop.WaitFinished, loop.ActorFinished, loop.DiffCaptured, loop.BaselineChecked, loop.ChecksFinished,
		loop.ReviewRejected, loop.CriticFinished:
	}
	return nil
}

func (c *compact) round(r loop.Round) error {
	parts := []string{
		fmt.Sprintf("#%d %s", r.Iteration, c.decision(r.Verdict.Decision)),
		"actor " + took(r.Attempt.Turn) + instead(c.session.Actor, r.Attempt.Turn),
		"critic " + took(r.Review.Turn) + instead(c.session.Critic, r.Review.Turn),
		stat(r.Change),
	}
	if r.Attempt.Rejudged {
		parts[1] = "actor not asked"
	}
	if r.Unjudged {
		parts[2] = "rule " + r.Rule
	}
	if text := Waited(c.waits); text != "" {
		parts = append(parts, text)
	}
	c.waits = nil
	if failing := failing(r.Checks); failing > 0 {
		parts = append(parts, count(failing, "check fails", "checks fail"))
	}
	if r.Verdict.Decision != loop.Done {
		parts = append(parts, cut(term.Line(r.Verdict.Guidance()), c.Width-20))
	}
	if err := c.say("%s", strings.Join(parts, "  ")); err != nil {
		return err
	}
	if what := went(r.Attempt.Turn); what != fate(r.Attempt.Turn) && !r.Attempt.Rejudged {
		return c.say("#%d actor: %s", r.Iteration, cut(what, c.Width-12))
	}
	return nil
}

// took says how long a turn took, and how it ended where it did not end well.
func took(t loop.Turn) string {
	if t.Ending == loop.EndCompleted || t.Ending == "" {
		return span(t.Duration)
	}
	return span(t.Duration) + ", " + fate(t)
}

func failing(checks []loop.CheckResult) (n int) {
	for _, c := range checks {
		if !c.Passed() {
			n++
		}
	}
	return n
}
