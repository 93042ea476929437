package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"codeloops/internal/loop"
	"codeloops/internal/screen/term"
	"codeloops/internal/screen/words"
)

type pretty struct {
	page
}

const indent = "           " // of what is shown below a step's line

func (p *pretty) show(at loop.Stamp, e loop.Event) {
	switch e := e.(type) {
	case loop.Started:
		p.start(e.Session)
	case loop.Resumed:
		p.resume(e)
	case loop.IterationStarted:
		p.sayf("\n%s", p.strong.Render(fmt.Sprintf("Iteration %d", e.Iteration)))
	case loop.PhaseEntered:
		p.working(e.State)
	case loop.DiffCaptured:
		if !p.Live {
			p.step("diff", "", Stat(e.Change.Shape()))
		}
		p.notes(e.Change.Warnings)
	case loop.Inspected:
		p.notes(Concerns(e.Inspection))
	case loop.BaselineChecked:
		p.sayf("\n%s", p.strong.Render("Before the session"))
		p.checks(e.Checks)
	case loop.ChecksFinished:
		p.checks(e.Checks)
	case loop.IterationFinished:
		p.verdict(e.Round)
	case loop.Noted:
		p.report(at, e)
	case loop.Warned:
		p.notes([]string{e.Text})
	case loop.Finished:
		p.sayf("") // separates the result from the progress above
		p.end(e.Outcome)
	case loop.Activity, loop.WaitStarted, loop.WaitFinished, loop.ActorFinished, loop.ReviewRejected, loop.CriticFinished, loop.TurnStarted, loop.TurnFinished, loop.Steered:
		p.turnEvent(at, e)
	}
}

// report shows what a step of the strategy reported. Of a question it shows the first line only:
// the user who is asked sees all of it.
func (p *pretty) report(at loop.Stamp, e loop.Noted) {
	lines := strings.Split(strings.Trim(e.Text, "\n"), "\n")
	if len(lines) > 1 && e.Name != loop.NoteQuestion {
		e.Text = ""
	} else {
		e.Text, lines = lines[0], nil
	}
	said := p.noted(e)
	if said == "" {
		return
	}
	if e.Name == loop.NoteChecks || e.Name == noteUnread || at.Step.Name() == "score" { // several may run at the same time
		said += "  (" + term.Line(string(at.Step.Parent())) + ")"
	}
	p.sayf("%s", p.faint.Render("  "+Cut(said, p.Width-2)))
	for _, line := range lines {
		p.sayf("%s", p.faint.Render("    "+Cut(term.Line(line), p.Width-4)))
	}
}

// turnEvent shows what agents do.
func (p *pretty) turnEvent(at loop.Stamp, e loop.Event) {
	switch e := e.(type) { //nolint:gochecksumtype // show has the others
	case loop.Activity:
		p.activity(e)
	case loop.WaitStarted:
		p.notes([]string{waiting(e.Wait, p.Zone)})
	case loop.ActorFinished:
		if p.state.Session.Judged {
			return // nobody played
		}
		if !e.Attempt.Rejudged {
			p.turn("actor", e.Attempt.Turn, p.ending(e.Attempt.Turn))
		} else if !p.Live {
			p.step("actor", "", rejudged)
		}
	case loop.ReviewRejected:
		what, below := p.withReason(p.warn.Render("asked again"), e.Review.Problem)
		p.turn("critic", e.Review.Turn, what)
		p.below(below)
	case loop.CriticFinished:
		p.review(e.Review)
	case loop.TurnStarted:
		if p.Live {
			return
		}
		p.sayf("%s", p.faint.Render(fmt.Sprintf("  %-8s at work … (%s)", term.Line(string(e.Role)), StepName(at, e.Iteration))))
	case loop.TurnFinished:
		what := fmt.Sprintf("%s  %s", turnSummary(e.Reply.Turn, p.fate(e.Reply.Turn))+Cut(Decided(e), p.Width-len(indent)), p.faint.Render("("+StepName(at, e.Iteration)+")"))
		p.step(term.Line(string(e.Role)), Span(e.Reply.Duration), what)
		p.failed(e.Reply.Turn)
		p.notes(append(FailedTries(e.Reply.Turn), leftovers(e.Reply.Leftovers)...))
	case loop.Steered:
		p.notes([]string{Steered(e)})
	case loop.WaitFinished: // the turn's line says it
	}
}

func (p *pretty) start(s loop.Session) {
	limit := "no iteration limit"
	if s.MaxIterations > 0 {
		limit = "at most " + Count(s.MaxIterations, "iteration", "iterations")
	}
	driven := ""
	if s.Strategy.Name != "" {
		driven = term.Line(s.Strategy.Name) + ", "
	}
	judges := ""
	if !unjudged(s.Strategy) {
		judge, who := Judges(s.Critic, s.Policy.Panel)
		judges = ", " + judge + " " + who + where(s.View)
	}
	who := fmt.Sprintf("%s  %sactor %s%s, %s", p.strong.Render("codeloops"), driven, Who(s.Actor), judges, limit)
	if s.Judged {
		who = fmt.Sprintf("%s  %s judges the work that is there", p.strong.Render("codeloops"), strings.TrimPrefix(judges, ", "))
	}
	p.sayf("%s\n%s", strings.Join(wrapped(who, 2, p.Width), "\n"), p.faint.Render(term.Line(s.WorkingDir)))
	if task := Task(s); task != "" {
		p.sayf("%s", Cut("task: "+task, p.Width))
	}
	p.dirty(s)
	if len(s.Templates) > 0 {
		for _, line := range wrapped("asked in your own words: "+strings.Join(Templates(s), ", "), 2, p.Width) {
			p.sayf("%s", p.faint.Render(line))
		}
	}
}

// unjudged reports whether a strategy has no critic: react works until the checks pass. A plan as a
// whole is judged, even if its base is react.
func unjudged(s loop.StrategyRef) bool {
	const alone = "react"
	base := loop.Parameter{Key: "base", Value: alone}
	return s.Name == alone || s.Name != "plan-and-execute" && slices.Contains(s.Parameters, base)
}

func where(view string) string {
	switch view {
	case "":
		return ""
	case "overlay":
		return " in an overlay"
	case "tree":
		return " in the work tree itself"
	}
	return " in a " + term.Line(view)
}

func (p *pretty) resume(e loop.Resumed) {
	p.start(e.Session)
	next := "the actor is next"
	if e.Rejudge {
		next = "the last work has no valid verdict and will be judged again"
	}
	if e.Judge {
		next = "the actor's last turn is there and will be judged"
	}
	p.sayf("resumed after %s; %s", Count(e.Iterations, "iteration", "iterations"), next)
}

// working says who has begun: an agent may take an hour, and silence looks like a hang.
func (p *pretty) working(s loop.State) {
	var name, what string
	switch s {
	case loop.ActorExecuting:
		if p.state.Rejudge || p.state.Session.Judged {
			return
		}
		name, what = "actor", Who(p.state.Playing[loop.RoleActor])+" is working …"
	case loop.CriticEvaluating:
		name, what = "critic", Who(p.state.Playing[loop.RoleCritic])+" is judging …"
		if panel := p.state.Session.Policy.Panel; panel != nil {
			name, what = "panel", Count(len(panel.Members), "critic", "critics")+" judging …"
		}
	case loop.Verifying:
		name, what = "checks", "running …"
		if checks := Checks(p.state.Session); checks != "" {
			what = Cut(checks, p.Width-20) + "  " + what
		}
	case loop.Start, loop.CapturingDiff, loop.DecidedDone, loop.DecidedContinue, loop.DecidedError, loop.Ended:
	}
	if name != "" && !p.Live {
		p.sayf("%s", p.faint.Render(fmt.Sprintf("  %-8s %s", name, what)))
	}
}

func (p *pretty) activity(e loop.Activity) {
	if e.Kind == loop.NoticeChange {
		p.notes([]string{e.Text})
		return
	}
	if !p.Verbose {
		return
	}
	for line := range strings.Lines(term.Clean(e.Text)) {
		p.sayf("%s", p.faint.Render("  │ "+Cut(strings.TrimRight(line, "\n"), p.Width-4)))
	}
}

// step writes a finished step: its name, its time, its result.
func (p *pretty) step(name, took, what string) {
	line := fmt.Sprintf("  %-8s %s", name, strings.TrimSpace(took+"  "+what))
	p.sayf("%s", strings.Join(wrapped(line, len(indent), p.Width), "\n"))
}

func (p *pretty) turn(name string, t loop.Turn, what string) {
	expected := p.state.Session.Actor
	if name == string(loop.RoleCritic) {
		expected = p.state.Session.Critic
	}
	if what += byInstead(expected, t); what != "" {
		p.step(name, Span(t.Duration), what)
	}
	var notes []string
	if text := Waited(p.state.Turn().Waits); text != "" {
		notes = append(notes, text)
	}
	if t.Denied() != "" || t.Futile {
		notes = append(notes, Failures(t.Execution)...)
	}
	p.notes(append(notes, leftovers(t.Leftovers)...))
	p.failed(t)
}

// room returns the width of what is shown below a step's line.
func (p *pretty) room() int {
	if p.Width >= Whole {
		return Whole
	}
	return p.Width - len(indent)
}

func (p *pretty) tail(printed string) {
	for _, line := range Tail(printed, 6, p.room()) {
		p.sayf("%s", p.faint.Render(strings.TrimRight(indent+line, " ")))
	}
}

// ending says how a turn ended; "" if the iteration's line will say it.
func (p *pretty) ending(t loop.Turn) string {
	if t.Ending == loop.EndCompleted && p.Live {
		return ""
	}
	return p.fate(t)
}

func (p *pretty) fate(t loop.Turn) string {
	if t.Ending == loop.EndCompleted {
		return Ending(t)
	}
	what, _ := p.withReason(p.bad.Render(Ending(t)), why(t))
	return what
}

func why(t loop.Turn) string {
	_, why, _ := strings.Cut(endingOf(t), ": ")
	return why
}

// withReason appends a reason to what happened if it fits on the line; otherwise it returns the reason
// as below.
func (p *pretty) withReason(what, reason string) (line, below string) {
	const aside = 22 // columns used before it
	switch reason = strings.TrimSpace(reason); {
	case reason == "":
		return what, ""
	case p.Width >= Whole, !strings.Contains(reason, "\n") && aside+ansi.StringWidth(what)+2+ansi.StringWidth(reason) <= p.Width:
		return what + ": " + term.Line(reason), ""
	}
	return what, reason
}

// below shows all of a text below a step's line.
func (p *pretty) below(text string) {
	for _, line := range p.prose(text, p.room()) {
		p.sayf("%s", strings.TrimRight(indent+line, " "))
	}
}

// failed shows a failed turn's own reason, and the end of its standard error.
func (p *pretty) failed(t loop.Turn) {
	if t.Ending == loop.EndCompleted {
		return
	}
	_, below := p.withReason(p.bad.Render(Ending(t)), why(t))
	p.below(below)
	if stderr := t.Stderr.Text; strings.TrimSpace(stderr) != why(t) {
		p.tail(stderr)
	}
}

func (p *pretty) checks(checks []loop.CheckResult) {
	for _, c := range checks {
		if c.Witness != "" {
			says := c.Witness
			if !c.Passed() {
				says = p.bad.Render(says)
			}
			p.step("witness", Span(c.Duration), says)
			continue
		}
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
		if c.Passed() && p.Live && p.state.Open.Number > 0 { // the iteration's line says it
			p.notes(c.Remarks())
			continue
		}
		p.step("check", Span(c.Duration), Cut(term.Line(c.Command), p.Width-40)+"  "+result)
		p.notes(c.Remarks())
		if c.Passed() {
			continue
		}
		p.tail(c.Output.Text)
	}
}

func (p *pretty) review(r loop.Review) {
	what := p.decision(r.Verdict)
	if p.Live { // the iteration's line says it
		what = p.ending(r.Turn)
	}
	if r.Problem != "" {
		var below string
		what, below = p.withReason(p.bad.Render("no verdict"), r.Problem)
		defer func() { p.below(below) }()
	}
	if len(r.Votes) > 0 {
		if r.Problem != "" || !p.Live {
			p.step("panel", Span(r.Duration), what+Poll(r.Votes))
		}
		return
	}
	p.turn("critic", r.Turn, what)
}

// verdict shows what the next turn of the actor will be told; the result of a run repeats the last
// one.
func (p *pretty) verdict(r loop.Round) {
	if p.Live {
		p.sayf("%s", strings.Join(append(p.block(r), p.remains(r)...), "\n"))
	} else if r.Review.Problem == "" && r.Verdict.Word() != r.Review.Verdict.Word() {
		what := p.decision(r.Verdict)
		if r.Rule != "" {
			what += "  " + words.Rule(r.Rule)
		}
		p.step("verdict", "", what)
	}
	for _, line := range p.settled(r) {
		p.sayf("%s%s", indent, Cut(p.good.Render("✓")+" "+line, p.room()))
	}
	if r.Verdict.Decision == loop.Done {
		return
	}
	p.below(loop.Named(r.Verdict.Account(), r.Findings))
	p.notes(r.Warnings)
}

func (p *pretty) notes(notes []string) {
	sign := p.warn.Render("!") + " "
	for _, n := range notes {
		room := Whole
		if p.Width < Whole {
			room = p.room() - 2
		}
		p.sayf("%s%s%s", indent, sign, strings.Join(wrapped(term.Line(n), 0, room), "\n"+indent+"  "))
	}
}
