package browse

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/metrics"
	"codeloops/internal/render"
	"codeloops/internal/session"
	"codeloops/internal/term"
)

// Entries are the lines of a log, as [session.Reader.Entries] yields them.
type Entries = iter.Seq2[session.Entry, error]

// A MissingError says that a log does not hold the iteration that was asked
// for.
type MissingError struct {
	ID        string
	Iteration int // 0: any
	Last      int // the last one there is, 0 for none
}

func (e *MissingError) Error() string {
	if e.Last == 0 {
		return fmt.Sprintf("session %s has no whole iteration", e.ID)
	}
	return fmt.Sprintf("session %s has no iteration %d; the last one is %d", e.ID, e.Iteration, e.Last)
}

// Details shows one session to a person, from its first line to its last. It
// holds one line of the log at a time.
type Details struct {
	Out       io.Writer
	Screen    Screen
	Full      bool // texts whole, and the diff
	Iteration int  // this one alone; 0: all
	Zone      *time.Location
	Bad       func(error) // is told of lines that could not be read

	session loop.Session
	reached loop.State  // the phase of an iteration that is not whole
	open    int         // the iteration that is not whole; 0: none
	last    int         // the last whole one
	notes   []note      // of the iteration that is not whole yet
	waits   []loop.Wait // of its turns
	waiting *loop.Wait  // that is not over
	tally   metrics.Tally
	err     error
}

// A note is something that happened on the way to a verdict.
type note struct {
	what  string
	reply string // of the critic, "" when the note is of something else
}

// Show writes the session.
func (d *Details) Show(o session.Overview, entries Entries) error {
	d.session = o.Session
	if d.Iteration == 0 {
		d.header(o)
	}
	for entry, err := range entries {
		if bad, ok := errors.AsType[*session.LineError](err); ok {
			d.Bad(bad)
			continue
		}
		if err != nil {
			return err
		}
		if d.entry(entry); d.err != nil {
			return d.err
		}
		if d.Iteration > 0 && d.last == d.Iteration {
			return nil
		}
	}
	if d.Iteration > 0 {
		return &MissingError{ID: o.ID, Iteration: d.Iteration, Last: d.last}
	}
	d.brokeOff(o.Status == session.Running)
	if o.Outcome == nil {
		d.cost()
	}
	return d.err
}

// Brief writes what the beginning and the end of a session's log say.
func (d *Details) Brief(o session.Overview) error {
	d.header(o)
	if o.Outcome != nil {
		d.end(*o.Outcome)
	}
	return d.err
}

func (d *Details) sayf(format string, args ...any) {
	if d.err == nil {
		_, d.err = fmt.Fprintf(d.Out, format+"\n", args...)
	}
}

func (d *Details) strong(text string) string {
	return d.Screen.Style.NewStyle().Bold(true).Render(text)
}

func (d *Details) faint(text string) string {
	return d.Screen.Style.NewStyle().Faint(true).Render(text)
}

func (d *Details) rowf(name, format string, args ...any) {
	d.sayf("  %-10s %s", name, fmt.Sprintf(format, args...))
}

// block writes a text under a heading, in short or whole.
func (d *Details) block(heading, text string, most int) {
	d.lines(heading, text, render.Excerpt(text, most, d.Screen.Width-6))
}

// ending is block with the last lines.
func (d *Details) ending(text string, most int) {
	d.lines("", text, render.Tail(text, most, d.Screen.Width-6))
}

func (d *Details) lines(heading, text string, lines []string) {
	if d.Full {
		lines = strings.Split(strings.TrimRight(term.Clean(text), "\n"), "\n")
	}
	if strings.TrimSpace(text) == "" {
		return
	}
	if heading != "" {
		d.sayf("  %s", d.faint(heading))
	}
	for _, line := range lines {
		d.sayf("%s", strings.TrimRight("    "+line, " "))
	}
}

func (d *Details) header(o session.Overview) {
	outcome := d.Screen.outcome(term.Line(string(o.Status)))
	if o.Outcome != nil && o.Outcome.Reason != loop.StopNone {
		outcome += " (" + term.Line(string(o.Outcome.Reason)) + ")"
	}
	d.sayf("%s  %s", d.strong(term.Line(o.ID)), outcome)
	if !o.Started.IsZero() {
		d.rowf("started", "%s, took %s", o.Started.In(d.Zone).Format(time.DateTime), render.Span(o.Duration))
		d.rowf("project", "%s", term.Line(o.Session.WorkingDir))
		d.rowf("actor", "%s", render.Who(o.Session.Actor))
		d.rowf("critic", "%s", render.Who(o.Session.Critic))
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
	d.block("prompt", o.Session.Prompt, 20)
}

// templates names the texts of the user's own in which agents are asked.
func (d *Details) templates(s loop.Session) {
	for _, line := range render.Templates(s) {
		d.rowf("template", "%s", line)
	}
}

func (d *Details) entry(entry session.Entry) { //nolint:gocyclo // one case for each event
	_ = d.tally.Handle(entry.At, entry.Event) // never fails
	switch e := entry.Event.(type) {
	case loop.IterationStarted:
		d.open, d.reached, d.notes = e.Iteration, loop.Start, nil
	case loop.WaitStarted:
		d.waiting = &e.Wait
	case loop.WaitFinished:
		d.waits, d.waiting = append(d.waits, e.Wait), nil
	case loop.PhaseEntered:
		d.open, d.reached = e.Iteration, e.State
	case loop.ReviewRejected:
		d.notes = append(d.notes, note{what: "the critic was asked again: " + term.Line(e.Review.Problem), reply: e.Review.Reply})
	case loop.IterationFinished:
		d.open, d.last = 0, e.Round.Iteration
		if d.wants(e.Round.Iteration) {
			d.round(e.Round)
		}
		d.notes, d.waits = nil, nil
	case loop.Inspected:
		for _, c := range render.Concerns(e.Inspection) {
			d.notes = append(d.notes, note{what: c})
		}
	case loop.Warned:
		d.notes = append(d.notes, note{what: "warning: " + term.Line(e.Text)})
	case loop.Resumed:
		if d.Iteration == 0 {
			d.brokeOff(false)
			d.open = 0
			d.sayf("\n%s after %s", d.strong("Resumed"), render.Count(e.Iterations, "iteration", "iterations"))
			if !slices.Equal(e.Session.Templates, d.session.Templates) {
				d.templates(e.Session)
			}
		}
		d.waiting, d.session.Templates = nil, e.Session.Templates
	case loop.Finished:
		if d.Iteration == 0 {
			d.brokeOff(false)
			d.open = 0
			d.end(e.Outcome)
		}
	case loop.Started, loop.Activity, loop.ActorFinished, loop.DiffCaptured, loop.BaselineChecked, loop.ChecksFinished, loop.CriticFinished:
	}
}

func (d *Details) wants(iteration int) bool { return d.Iteration == 0 || d.Iteration == iteration }

// brokeOff tells of the iteration that is not whole, if there is one.
func (d *Details) brokeOff(running bool) {
	if d.open == 0 {
		d.noted()
		return
	}
	what := "broke off"
	if running {
		what = "is"
	}
	at := ""
	if d.reached != loop.Start {
		at = " in " + d.reached.String()
	} else if running {
		at = " at its beginning"
	}
	d.sayf("\n%s %s%s", d.strong(fmt.Sprintf("Iteration %d", d.open)), what, at)
	d.noted()
}

func (d *Details) noted() {
	if text := render.Waited(d.waits); text != "" {
		d.rowf("", "%s", text)
	}
	if d.waiting != nil {
		d.rowf("", "%s", render.Awaited(*d.waiting, d.Zone))
	}
	d.waits, d.waiting = nil, nil
	for _, n := range d.notes {
		d.rowf("", "%s", n.what)
		if d.Full {
			d.block("the reply that could not be used", n.reply, 0)
		}
	}
	d.notes = nil
}

func (d *Details) end(o loop.Outcome) {
	d.sayf("\n%s after %s, %s%s%s", d.strong(d.Screen.outcome(term.Line(string(o.Result)))),
		render.Count(o.Iterations, "iteration", "iterations"), render.Span(o.Duration), render.OfIt(d.tally.Waited()), render.LeftOpen(o))
	if o.Confidence != nil {
		d.rowf("confidence", "%.2f", *o.Confidence)
	}
	d.cost()
	d.block("", o.Summary, 12)
}

// cost is what the session has cost so far.
func (d *Details) cost() {
	cost := Cost(&d.tally)
	if spent := spentBy(&d.tally); spent.Tokens != nil {
		cost += ", " + tokens(*spent.Tokens) + " tokens"
	}
	if cost != "-" {
		cost += ", " + Told(&d.tally)
	}
	d.rowf("cost", "%s", cost)
}

// Letter is the sign that git has for what happened to a file.
func Letter(s loop.FileStatus) string {
	switch s {
	case loop.FileAdded:
		return "A"
	case loop.FileDeleted:
		return "D"
	case loop.FileRenamed:
		return "R"
	case loop.FileModified:
	}
	return "M"
}
