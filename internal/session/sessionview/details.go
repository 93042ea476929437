package sessionview

import (
	"fmt"
	"iter"
	"slices"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/loop/progress"
	"codeloops/internal/screen/render"
	"codeloops/internal/screen/term"
	"codeloops/internal/screen/words"
	"codeloops/internal/session"
)

// Entries are the lines of a log, as [session.Reader.Entries] yields them.
type Entries = iter.Seq2[session.Entry, error]

// A MissingError says that a log does not hold the requested iteration.
type MissingError struct {
	ID        string
	Iteration int // 0: any
	Last      int // the last one in the log, 0: none
}

func (e *MissingError) Error() string {
	if e.Last == 0 {
		return fmt.Sprintf("session %s has no finished iteration", e.ID)
	}
	return fmt.Sprintf("session %s has no iteration %d; the last one is %d", e.ID, e.Iteration, e.Last)
}

// Details shows one session to a person. It holds one line of the log at a time.
type Details struct {
	Page
	Iteration int // show only this one; 0: all
	Zone      *time.Location

	session loop.Session // as it began
	state   progress.State
	notes   []note          // of the unfinished iteration
	turns   []session.Entry // the strategy's own, also of the unfinished iteration
	steps   tree
}

// A note is something that happened before a verdict.
type note struct {
	what  string
	reply string // of the critic; "" for other notes
}

// Show writes the session.
func (d *Details) Show(o session.Overview, entries Entries) error {
	d.session = o.Session
	if d.Iteration == 0 {
		d.header(o)
	}
	for entry, err := range entries {
		if err != nil {
			return err
		}
		d.event(entry)
		d.steps.event(entry, d.state.Kept, d.state.Forks().Of(entry.At.Step))
		_ = d.state.Handle(entry.At, entry.Event) // never fails
		if d.err != nil || d.Iteration > 0 && d.state.Last() == d.Iteration {
			return d.err
		}
	}
	if d.Iteration > 0 {
		return &MissingError{ID: o.ID, Iteration: d.Iteration, Last: d.state.Last()}
	}
	d.unfinished(o.Status == session.Running)
	if o.Outcome == nil {
		d.cost()
	}
	d.steps.draw(&d.Page, d.session.Strategy)
	return d.err
}

// Brief writes only how a session began and ended.
func (d *Details) Brief(o session.Overview) error {
	d.header(o)
	if o.Outcome != nil {
		d.end(*o.Outcome)
	}
	return d.err
}

// why says in brackets why a session ended; "" if its outcome says it.
func why(o session.Overview) string {
	if o.Outcome == nil {
		return ""
	}
	return bracketed(*o.Outcome)
}

func bracketed(o loop.Outcome) string {
	plain := []loop.StopReason{loop.StopNone, loop.StopDone, loop.StopMaxIterations, loop.StopInterrupted}
	if slices.Contains(plain, o.Reason) && !o.Bounded() {
		return ""
	}
	return " (" + words.End(o) + ")"
}

func (d *Details) header(o session.Overview) {
	outcome := d.Screen.outcome(string(o.Status))
	outcome += why(o)
	d.sayf("%s  %s", d.Screen.strong(term.Line(o.ID)), outcome)
	if !o.Started.IsZero() {
		d.rowf("started", "%s, took %s", o.Started.In(d.Zone).Format(time.DateTime), render.Span(o.Duration))
		d.rowf("project", "%s", term.Line(o.Session.WorkingDir))
		d.rowf("actor", "%s", render.Who(o.Session.Actor))
		judge, who := render.Judges(o.Session.Critic, o.Session.Policy.Panel)
		d.rowf(judge, "%s", who)
	}
	if o.Session.Task != "" {
		d.rowf("task", "%s", term.Line(o.Session.Task))
	}
	if o.Status == session.Crashed && o.Session.Checkpoint != "" {
		d.rowf("carry on", "codeloops resume %s", term.Line(o.ID))
	}
	d.templates(o.Session)
	if o.Session.MaxIterations > 0 {
		d.rowf("limit", "%s", render.Count(o.Session.MaxIterations, "iteration", "iterations"))
	}
	if o.Session.BaseCommit != "" {
		d.rowf("base", "%s", term.Line(o.Session.BaseCommit))
	}
	d.rowf("log", "%s", term.Line(o.Path))
	d.sayf("")
	d.prose("prompt", o.Session.Prompt, 20)
}

func (d *Details) templates(s loop.Session) {
	for _, line := range render.Templates(s) {
		d.rowf("template", "%s", line)
	}
}

func (d *Details) event(entry session.Entry) {
	switch e := entry.Event.(type) {
	case loop.IterationStarted:
		d.notes, d.turns = nil, nil
	case loop.TurnFinished:
		if d.turns = append(d.turns, entry); e.Iteration == 0 && d.Iteration == 0 {
			d.sayf("")
			d.turned()
		}
	case loop.IterationFinished:
		if d.Iteration == 0 || d.Iteration == e.Round.Iteration {
			d.round(e.Round)
		}
		d.notes, d.turns = nil, nil
	case loop.ReviewRejected:
		d.notes = append(d.notes, note{what: "the critic was asked again: " + term.Line(e.Review.Problem), reply: e.Review.Reply})
	case loop.Inspected:
		d.note(render.Concerns(e.Inspection)...)
	case loop.Warned:
		d.note("warning: " + term.Line(e.Text))
	case loop.Steered:
		d.note(render.Steered(e))
	case loop.Resumed, loop.Finished:
		if d.Iteration == 0 {
			d.unfinished(false)
			d.runEvent(e)
		}
	case loop.Started, loop.PhaseEntered, loop.Activity, loop.TurnStarted, loop.Noted, loop.WaitStarted, loop.WaitFinished, loop.ActorFinished, loop.DiffCaptured,
		loop.BaselineChecked, loop.ChecksFinished, loop.CriticFinished:
	}
}

func (d *Details) note(lines ...string) {
	for _, line := range lines {
		d.notes = append(d.notes, note{what: line})
	}
}

// runEvent shows the end of a run, or the beginning of a resumed one.
func (d *Details) runEvent(e loop.Event) {
	if end, over := e.(loop.Finished); over {
		d.end(end.Outcome)
	} else if again, ok := e.(loop.Resumed); ok {
		d.sayf("\n%s after %s", d.Screen.strong("Resumed"), render.Count(again.Iterations, "iteration", "iterations"))
		if !slices.Equal(again.Session.Templates, d.state.Session.Templates) {
			d.templates(again.Session)
		}
	}
}

func (d *Details) unfinished(running bool) {
	open := d.state.Open
	if open.Number == 0 {
		d.noted()
		return
	}
	what := "broke off"
	if running {
		what = "is"
	}
	at := ""
	if open.Phase != loop.Start {
		at = " in the " + words.Phase(open.Phase)
	} else if running {
		at = " at its beginning"
	}
	d.sayf("\n%s %s%s", d.Screen.strong(fmt.Sprintf("Iteration %d", open.Number)), what, at)
	d.turned()
	d.noted()
}

func (d *Details) noted() {
	if text := render.Waited(d.state.Open.Waits); text != "" {
		d.rowf("", "%s", text)
	}
	if w := d.state.Turn().Waiting; w != nil {
		d.rowf("", "%s", render.Awaited(*w, d.Zone))
	}
	for _, n := range d.notes {
		d.rowf("", "%s", n.what)
		if d.Full {
			d.block("the reply that could not be used", n.reply, 0)
		}
	}
	d.notes = nil
}

func (d *Details) end(o loop.Outcome) {
	d.sayf("\n%s after %s, %s%s%s", d.Screen.strong(d.Screen.outcome(string(o.Result))),
		render.Count(o.Iterations, "iteration", "iterations"), render.Span(o.Duration), render.WaitNote(d.state.Waited()), render.LeftOpen(o))
	if o.Confidence != nil {
		d.rowf("confidence", "%.2f", *o.Confidence)
	}
	if text := render.Findings(d.state.Tally); text != "" {
		d.rowf("findings", "%s", text)
	}
	d.cost()
	d.prose("", o.Summary, 40)
	d.prose("", words.Remedy(o), 40)
}

func (d *Details) cost() {
	cost := Cost(&d.state.Tally)
	if spent := spentBy(&d.state.Tally); spent.Tokens != nil {
		cost += ", " + render.Tokens(*spent.Tokens) + " tokens"
	}
	if cost != "-" {
		cost += ", " + CostBasis(&d.state.Tally)
	}
	d.rowf("cost", "%s", cost)
}
