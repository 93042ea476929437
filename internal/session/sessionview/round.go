package sessionview

import (
	"cmp"
	"fmt"

	"codeloops/internal/loop"
	"codeloops/internal/screen/render"
	"codeloops/internal/screen/term"
	"codeloops/internal/screen/words"
)

func (d *Details) round(r loop.Round) {
	d.sayf("\n%s  %s", d.Screen.strong(fmt.Sprintf("Iteration %d", r.Iteration)), d.Screen.faint(render.Span(r.Attempt.Duration+r.Review.Duration)))
	d.turned()
	d.rowf("actor", "%s", render.ActorSummary(d.session.Actor, r.Attempt))
	d.missed(r.Attempt.Turn)
	d.prose("", r.Attempt.Stdout.Text, 6)
	d.omitted(r.Attempt.Stdout)
	d.block("standard error", r.Attempt.Stderr.Text, 3)
	d.omitted(r.Attempt.Stderr)
	d.leftovers(r.Attempt.Turn)
	d.rowf("diff", "%s", render.Stat(r.Change.Shape()))
	d.files(r.Change)
	for _, c := range r.Checks {
		if c.Witness != "" {
			d.rowf("witness", "%s  %s", render.Span(c.Duration), term.Line(c.Witness))
			continue
		}
		result := "passed"
		if !c.Passed() {
			result = render.Failure(c)
		}
		d.rowf("check", "%s  %s  %s", render.Span(c.Duration), term.Line(c.Command), result)
		for _, remark := range c.Remarks() {
			d.rowf("", "%s", term.Line(remark))
		}
		if d.Full || !c.Passed() {
			d.ending(c.Output.Text, 6)
			d.omitted(c.Output)
		}
	}
	d.judged(r)
}

func (d *Details) turned() {
	for _, entry := range d.turns {
		e, _ := entry.Event.(loop.TurnFinished)
		t := e.Reply.Turn
		d.rowf(term.Line(string(e.Role)), "%s  %s  %s", render.Span(t.Duration), render.TurnSummary(t)+render.Decided(e), d.Screen.faint("("+render.StepName(entry.At, e.Iteration)+")"))
		d.missed(t)
		d.prose("", e.Reply.Text, 6)
		d.omitted(t.Stdout)
		d.leftovers(t)
	}
	d.turns = nil
}

func (d *Details) leftovers(t loop.Turn) {
	for _, line := range render.Failures(t.Execution) {
		d.rowf("", "%s", line)
	}
	for _, p := range t.Leftovers {
		d.rowf("", "left running, ended: %s", term.Line(p.Command))
	}
}

func (d *Details) missed(t loop.Turn) {
	for _, line := range render.FailedTries(t) {
		d.rowf("", "%s", line)
	}
}

func (d *Details) judged(r loop.Round) {
	d.noted()
	if r.Unjudged {
		decided := term.Line(r.Verdict.Word())
		if r.Rule != "" {
			d.rowf("rules", "%s %s; no critic was asked", decided, words.Rule(r.Rule))
		} else {
			d.rowf("verdict", "%s; no critic was asked", decided)
		}
		d.prose("", r.Why, 40)
		d.prose("", r.Verdict.Guidance(), 40)
		return
	}
	decision := r.Review.Verdict.Word()
	if r.Review.Problem != "" {
		decision = "no verdict: " + term.Line(r.Review.Problem)
	}
	d.reviewed(r.Review, decision)
	d.missed(r.Review.Turn)
	if d.Full {
		d.block("reply", r.Review.Reply, 0)
	}
	v := r.Verdict
	if r.Review.Problem != "" || v.Word() != r.Review.Verdict.Word() {
		by := ""
		if r.Rule != "" {
			by = " " + words.Rule(r.Rule)
		}
		d.rowf("verdict", "%s", term.Line(v.Word()+by))
	}
	switch r.Review.Sealed {
	case loop.SealNone:
		d.rowf("seal", "none: the decision does not repeat it")
	case loop.SealWrong:
		d.rowf("seal", "wrong: as good as none")
	case loop.SealRight:
	}
	if v.Confidence != nil {
		d.rowf("confidence", "%.2f", *v.Confidence)
	}
	d.failure(r)
	for _, line := range render.Settled(d.state.Found, r.Findings) {
		d.rowf("", "✓ %s", line)
	}
	d.prose("", loop.Named(v.Account(), r.Findings), 40)
	if v.Escalation != "" {
		d.rowf("escalation", "%s", term.Line(v.Escalation))
	}
}

// failure shows why an iteration counts as an error, unless its verdict says it.
func (d *Details) failure(r loop.Round) {
	switch {
	case r.Failure == loop.StopNone:
	case r.Failure != loop.StopConsecutiveErrors: // which stands for all failures without a name
		d.rowf("failure", "%s", words.Stop(r.Failure))
	case r.Verdict.Decision != loop.Error:
		d.rowf("failure", "the actor could not finish its turn")
	}
}

// reviewed shows who decided, and which members of a panel dissented.
func (d *Details) reviewed(r loop.Review, decision string) {
	if votes := r.Votes; len(votes) > 0 {
		d.rowf("panel", "%s  %s%s", render.Span(r.Duration), term.Line(decision), render.Poll(votes))
		for _, v := range votes {
			if v.Decision != r.Verdict.Decision {
				d.rowf("  dissent", "%s: %s", term.Line(v.Name()), term.Line(cmp.Or(string(v.Decision), "no verdict")))
				d.prose("", v.Says, 12)
			}
		}
	} else {
		d.rowf("critic", "%s  %s", render.Span(r.Duration), term.Line(decision)+render.PlayedBy(d.session.Critic, r.Turn))
	}
}
