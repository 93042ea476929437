package render

import (
	"fmt"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/screen/term"
	"codeloops/internal/screen/words"
)

type compact struct {
	page
}

func (c *compact) show(at loop.Stamp, e loop.Event) {
	switch e := e.(type) {
	case loop.Started:
		c.dirty(e.Session)
	case loop.Resumed:
		c.sayf("resumed after %s", Count(e.Iterations, "iteration", "iterations"))
	case loop.IterationFinished:
		c.round(e.Round)
	case loop.Inspected:
		for _, text := range Concerns(e.Inspection) {
			c.sayf("#%d %s", e.Iteration, text)
		}
	case loop.TurnFinished:
		c.turn(at, e)
	case loop.Noted:
		if said := c.noted(e); said != "" {
			c.sayf("#%s %s", StepName(at, e.Iteration), said)
		}
	case loop.Steered:
		c.sayf("#%d %s", e.Iteration, Steered(e))
	case loop.Warned:
		c.sayf("#%d warning: %s", e.Iteration, term.Line(e.Text))
	case loop.Finished:
		c.end(e.Outcome)
	case loop.WaitStarted:
		c.sayf("#%d %s: %s", e.Iteration, e.Role, waiting(e.Wait, c.Zone))
	case loop.Activity:
		c.activity(e)
	case loop.IterationStarted, loop.TurnStarted, loop.PhaseEntered, loop.WaitFinished, loop.ActorFinished, loop.DiffCaptured, loop.BaselineChecked, loop.ChecksFinished,
		loop.ReviewRejected, loop.CriticFinished:
	}
}

func (c *compact) activity(e loop.Activity) {
	if e.Kind == loop.NoticeChange {
		c.sayf("#%d %s: %s", e.Iteration, e.Role, term.Line(e.Text))
	} else if c.Verbose && e.Kind != loop.NoticeLook {
		c.sayf("#%d %s: %s", e.Iteration, e.Role, Cut(term.Line(e.Text), c.Width-12))
	}
}

func (c *compact) turn(at loop.Stamp, e loop.TurnFinished) {
	name := StepName(at, e.Iteration)
	if role := term.Line(string(e.Role)); role != at.Step.Name() {
		name += " " + role
	}
	c.sayf("#%s  %s, %s", name, Span(e.Reply.Duration), TurnSummary(e.Reply.Turn)+Cut(Decided(e), c.Width))
}

func (c *compact) round(r loop.Round) {
	parts := []string{
		fmt.Sprintf("#%d %s", r.Iteration, c.decision(r.Verdict)),
		"actor " + took(r.Attempt.Turn) + byInstead(c.state.Session.Actor, r.Attempt.Turn),
		"critic " + took(r.Review.Turn) + byInstead(c.state.Session.Critic, r.Review.Turn),
		Stat(r.Change.Shape()),
	}
	if len(r.Review.Votes) > 0 {
		parts[2] = "panel" + Poll(r.Review.Votes)
	}
	if r.Attempt.Rejudged {
		parts[1] = "actor not asked"
	}
	if r.Unjudged {
		parts[2] = "critic not asked"
		if r.Rule != "" {
			parts[2] += ", " + words.Rule(r.Rule)
		}
	}
	if text := Waited(c.state.Open.Waits); text != "" {
		parts = append(parts, text)
	}
	if failing := failing(r.Checks); failing > 0 {
		parts = append(parts, Count(failing, "check fails", "checks fail"))
	}
	if r.Verdict.Decision != loop.Done {
		parts = append(parts, Cut(term.Line(loop.Named(r.Verdict.Guidance(), r.Findings)), c.Width-20))
	}
	c.sayf("%s", strings.Join(parts, "  "))
	for _, line := range c.settled(r) {
		c.sayf("#%d %s", r.Iteration, Cut(line, c.Width-12))
	}
	if what := endingOf(r.Attempt.Turn); what != Ending(r.Attempt.Turn) && !r.Attempt.Rejudged {
		c.sayf("#%d actor: %s", r.Iteration, Cut(what, c.Width-12))
	}
}

// took says how long a turn took, and how it ended if not well.
func took(t loop.Turn) string {
	if t.Ending == loop.EndCompleted || t.Ending == "" {
		return Span(t.Duration)
	}
	return Span(t.Duration) + ", " + Ending(t)
}

func failing(checks []loop.CheckResult) (n int) {
	for _, c := range checks {
		if !c.Passed() {
			n++
		}
	}
	return n
}
