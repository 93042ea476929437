package render

import (
	"fmt"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/term"
)

// pretty shows a line for each step of each iteration.
type pretty struct {
	page
	pending bool // a line stands on the terminal that the next one writes over
	rejudge bool // the next turn of the actor is none
}

const indent = "           " // under the texts of a step's line

func (p *pretty) Handle(at loop.Stamp, e loop.Event) error { //nolint:gocyclo // one case for each event
	p.keep(at, e)
	switch e := e.(type) {
	case loop.Started:
		return p.start(e.Session)
	case loop.Resumed:
		return p.resume(e)
	case loop.IterationStarted:
		return p.say("\n%s", p.strong.Render(fmt.Sprintf("Iteration %d", e.Iteration)))
	case loop.PhaseEntered:
		if p.rejudge {
			p.rejudge = false
			return nil
		}
		return p.working(e.State)
	case loop.Activity:
		return p.activity(e)
	case loop.WaitStarted:
		return p.notes([]string{waiting(e.Wait, p.Zone)})
	case loop.ActorFinished:
		if e.Attempt.Rejudged {
			return p.step("actor", "", rejudged)
		}
		return p.turn("actor", e.Attempt.Turn, p.ending(e.Attempt.Turn))
	case loop.DiffCaptured:
		return p.diff(e.Change)
	case loop.Inspected:
		return p.notes(concerns(e.Inspection))
	case loop.BaselineChecked:
		if err := p.say("\n%s", p.strong.Render("Before the session")); err != nil {
			return err
		}
		return p.checks(e.Checks)
	case loop.ChecksFinished:
		return p.checks(e.Checks)
	case loop.ReviewRejected:
		return p.turn("critic", e.Review.Turn, p.warn.Render("asked again: ")+cut(term.Line(e.Review.Problem), p.Width-len(indent)))
	case loop.CriticFinished:
		return p.review(e.Review)
	case loop.IterationFinished:
		return p.verdict(e.Round)
	case loop.Warned:
		return p.notes([]string{e.Text})
	case loop.Finished:
		return p.finish(e.Outcome)
	case loop.WaitFinished: // the turn will tell
	}
	return nil
}

func (p *pretty) start(s loop.Session) error {
	limit := "no iteration limit"
	if s.MaxIterations > 0 {
		limit = "at most " + count(s.MaxIterations, "iteration", "iterations")
	}
	err := p.say("%s  actor %s, critic %s, %s\n%s", p.strong.Render("codeloops"),
		who(s.Actor), who(s.Critic), limit, p.faint.Render(term.Line(s.WorkingDir)))
	if err != nil || len(s.Templates) == 0 {
		return err
	}
	return p.say("%s", p.faint.Render("asked in your own words: "+strings.Join(templates(s), ", ")))
}

func (p *pretty) resume(e loop.Resumed) error {
	if err := p.start(e.Session); err != nil {
		return err
	}
	p.rejudge = e.Rejudge
	next := "the actor is next"
	if e.Rejudge {
		next = "the last work has no verdict that stands and will be judged again"
	}
	if e.Judge {
		next = "the actor's last turn is there and will be judged"
	}
	return p.say("resumed after %s; %s", count(e.Iterations, "iteration", "iterations"), next)
}

// working tells who has begun: an agent may take an hour, and silence looks
// like a hang.
func (p *pretty) working(s loop.State) error {
	var name, what string
	switch s {
	case loop.ActorExecuting:
		name, what = "actor", who(p.playing[loop.RoleActor])+" is working …"
	case loop.CriticEvaluating:
		name, what = "critic", who(p.playing[loop.RoleCritic])+" is judging …"
	case loop.Verifying:
		name, what = "checks", "running …"
	case loop.Start, loop.CapturingDiff, loop.DecidedDone, loop.DecidedContinue, loop.DecidedError, loop.Ended:
	}
	if name == "" {
		return nil
	}
	line := fmt.Sprintf("  %-8s %s", name, what)
	if !p.Live {
		return p.say("%s", p.faint.Render(line))
	}
	p.pending = true
	_, err := fmt.Fprint(p.Progress, p.faint.Render(term.Fit(line, p.Width)))
	return err
}

func (p *pretty) erase() {
	if p.pending {
		// The write that follows reports what is wrong with the terminal.
		_, _ = fmt.Fprint(p.Progress, "\r\x1b[K")
		p.pending = false
	}
}

func (p *pretty) activity(e loop.Activity) error {
	switch e.Kind {
	case loop.NoticeChange:
		return p.notes([]string{e.Text})
	case loop.NoticeOutput, loop.NoticeMessage, loop.NoticeTool, loop.NoticeCommand, loop.NoticeEdit, loop.NoticeProblem:
	}
	if !p.Verbose {
		return nil
	}
	p.erase()
	for line := range strings.Lines(term.Clean(e.Text)) {
		if err := p.say("%s", p.faint.Render("  │ "+cut(strings.TrimRight(line, "\n"), p.Width-4))); err != nil {
			return err
		}
	}
	return nil
}

// step writes one finished step: its name, its time, what came of it.
func (p *pretty) step(name, took, what string) error {
	p.erase()
	return p.say("  %-8s %s", name, strings.TrimSpace(took+"  "+what))
}

func (p *pretty) turn(name string, t loop.Turn, what string) error {
	expected := p.session.Actor
	if name == string(loop.RoleCritic) {
		expected = p.session.Critic
	}
	what += instead(expected, t)
	if err := p.step(name, span(t.Duration), what); err != nil {
		return err
	}
	var notes []string
	if text := Waited(p.waits); text != "" {
		notes = append(notes, text)
	}
	p.waits = nil
	if len(t.Leftovers) > 0 {
		notes = append(notes, leftovers(t.Leftovers))
	}
	return p.notes(notes)
}

func (p *pretty) diff(c loop.Change) error {
	if err := p.step("diff", "", stat(c)); err != nil {
		return err
	}
	return p.notes(c.Warnings)
}

func (p *pretty) ending(t loop.Turn) string {
	if t.Ending == loop.EndCompleted {
		return fate(t)
	}
	what, why, ok := strings.Cut(went(t), ": ")
	if what = p.bad.Render(what); ok {
		what += ": " + cut(why, p.Width-len(indent))
	}
	return what
}

func (p *pretty) checks(checks []loop.CheckResult) error {
	for _, c := range checks {
		result := p.good.Render("passed")
		if !c.Passed() {
			result = p.bad.Render("failed") + strings.TrimPrefix(Failure(c), "failed")
		}
		switch {
		case c.FailedBefore && !c.Passed():
			result += p.faint.Render(", as before the session")
		case c.FailedBefore:
			result += p.faint.Render(", failed before the session")
		}
		if err := p.step("check", span(c.Duration), cut(term.Line(c.Command), p.Width-40)+"  "+result); err != nil {
			return err
		}
		if err := p.notes(c.Remarks()); err != nil {
			return err
		}
		if c.Passed() {
			continue
		}
		for _, line := range tail(c.Output.Text, 6, p.Width-len(indent)) {
			if err := p.say("%s", p.faint.Render(strings.TrimRight(indent+line, " "))); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *pretty) review(r loop.Review) error {
	what := p.decision(r.Verdict.Decision)
	if r.Problem != "" {
		what = p.bad.Render("no verdict: ") + cut(term.Line(r.Problem), p.Width-len(indent))
	}
	return p.turn("critic", r.Turn, what)
}

// verdict shows what the next actor turn will be told; at the end of a run
// the result says it.
func (p *pretty) verdict(r loop.Round) error {
	if r.Review.Problem == "" && r.Verdict.Decision != r.Review.Verdict.Decision {
		what := p.decision(r.Verdict.Decision)
		if r.Rule != "" {
			what += "  by the rule " + r.Rule
		}
		if err := p.step("verdict", "", what); err != nil {
			return err
		}
	}
	if r.Verdict.Decision == loop.Done {
		return nil
	}
	words := r.Verdict.Guidance()
	if v := r.Verdict; v.Decision == loop.Error && v.Recovery != "" && v.Analysis != "" { // alone it does not say what from
		words = v.Analysis + "\n" + words
	}
	for _, line := range excerpt(words, 6, p.Width-len(indent)) {
		if err := p.say("%s", strings.TrimRight(indent+line, " ")); err != nil {
			return err
		}
	}
	return p.notes(r.Warnings)
}

// finish sets the result off from the progress above it.
func (p *pretty) finish(o loop.Outcome) error {
	p.erase()
	if err := p.say(""); err != nil {
		return err
	}
	return p.end(o)
}

func (p *pretty) notes(notes []string) error {
	for _, n := range notes {
		p.erase()
		if err := p.say("%s%s %s", indent, p.warn.Render("!"), term.Line(n)); err != nil {
			return err
		}
	}
	return nil
}
