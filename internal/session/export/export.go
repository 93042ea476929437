// Package export shows a session: as one file, for other people, or on a screen. All formats are templates over one
// model.
//
// What agents wrote is treated as hostile: in HTML it is text, never a tag or an attribute,
// and in Markdown it is inside fences that it cannot close. No file is larger than some
// megabytes: long texts are cut, with a note of where the whole is.
package export

import (
	"io"
	"path/filepath"
	"strings"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/loop/progress"
	"codeloops/internal/screen/render"
	"codeloops/internal/screen/words"
	"codeloops/internal/session"
	"codeloops/internal/session/sessionview"
)

// A Format names a kind of file.
type Format string

// The formats.
const (
	HTML     Format = "html"
	Markdown Format = "markdown"
	JSON     Format = "json"
)

// Formats lists all formats.
func Formats() []string { return []string{string(HTML), string(Markdown), string(JSON)} }

// Ending is the extension of the format's files.
func (f Format) Ending() string {
	if f == Markdown {
		return ".md"
	}
	return "." + string(f)
}

// FormatOf returns the format of a file by its extension; ok is false if that is unknown.
func FormatOf(name string) (f Format, ok bool) {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".html", ".htm":
		return HTML, true
	case ".md", ".markdown":
		return Markdown, true
	case ".json":
		return JSON, true
	}
	return "", false
}

// Options say what to write.
type Options struct {
	Format  Format
	Session session.Overview // only its id, its status and its times are used; for a screen, also its path
	Zone    *time.Location

	// For a screen.

	Screen    sessionview.Screen
	Full      bool // whole texts, and diffs
	Iteration int  // only this one; 0: all
}

// OnScreen is the format for a person at a terminal. What it shows is not cut to a size.
const OnScreen Format = "screen"

// Write writes a session. It holds one iteration at a time in memory.
func Write(w io.Writer, entries sessionview.Entries, o Options) error {
	if o.Format == JSON {
		return sessionview.Document(w, o.Session, entries, 0)
	}
	p := newPage(w, o)
	for entry, err := range entries {
		if err != nil {
			return err
		}
		p.event(entry)
		_ = p.state.Handle(entry.At, entry.Event) // never fails
		if p.state.Forks().Takes(entry.At, entry.Event) {
			p.change = p.before
		}
		if p.err != nil || o.Iteration > 0 && p.state.Last() == o.Iteration {
			return p.err
		}
	}
	if o.Iteration > 0 {
		return &sessionview.MissingError{ID: o.Session.ID, Iteration: o.Iteration, Last: p.state.Last()}
	}
	p.brokeOff(o.Session.Status == session.Running)
	if o.Format != OnScreen {
		p.end()
		return p.err
	}
	if p.outcome == nil {
		p.ended()
	}
	p.stepped()
	return p.err
}

func newPage(w io.Writer, o Options) *page {
	p := &page{out: w, opts: o, budget: budget{id: o.Session.ID, left: mostOfAll, most: mostOfText}}
	switch o.Format {
	case Markdown:
		p.left, p.most, p.brief, p.layout = markdownSize, mostOfMarkdown, true, markdownLayout()
	case OnScreen:
		p.raw, p.layout = true, p.screenLayout()
	case HTML, JSON:
		p.layout = htmlLayout()
	}
	return p
}

// A page is a file while it is written, part by part.
type page struct {
	out  io.Writer
	err  error // the first one; nothing is written after it
	opts Options
	budget
	brief bool // without the diffs and all that is to be unfolded
	live  bool // parts of a larger page
	layout

	state   progress.State
	steps   steps
	begun   bool
	outcome *loop.Outcome // nil: the log has none
	before  loop.Change   // of the last iteration
	change  loop.Change   // the last one of the user's work tree
	turns   []turn        // of the iteration under way
	notes   []note        // since the last iteration
	rows    []row
	working time.Duration // of all turns of the strategy
}

func (p *page) event(entry session.Entry) {
	if !p.begun {
		p.begun = true
		start, _ := entry.Event.(loop.Started) // of a log without its first line, nothing is known
		p.head(start.Session)
	}
	switch e := entry.Event.(type) {
	case loop.IterationStarted:
		p.turns = nil
	case loop.TurnFinished:
		p.working += e.Reply.Duration
		if p.turns = append(p.turns, p.turn(entry.At, e)); e.Iteration == 0 {
			p.show("alone", section{Turns: p.takeTurns()})
		}
	case loop.ReviewRejected:
		p.note("the critic was asked again: " + e.Review.Problem)
		p.notes[len(p.notes)-1].Reply = p.words("", e.Review.Reply)
	case loop.Inspected:
		p.note(render.Concerns(e.Inspection)...)
	case loop.Warned:
		p.note("warning: " + e.Text)
	case loop.Steered:
		p.note(render.Steered(e))
	case loop.Noted:
		p.steps.noted(entry.At.Step, e, p.state.Kept)
	case loop.IterationFinished:
		p.iteration(e.Round)
	case loop.Resumed:
		p.brokeOff(false)
		p.outcome = nil
		p.show("resumed", "Resumed after "+render.Count(e.Iterations, "iteration", "iterations"))
	case loop.Finished:
		p.outcome = &e.Outcome
		p.brokeOff(false)
		if p.raw {
			p.ended()
		}
	case loop.Started, loop.PhaseEntered, loop.Activity, loop.TurnStarted, loop.WaitStarted, loop.WaitFinished, loop.BaselineChecked, loop.ActorFinished, loop.DiffCaptured,
		loop.ChecksFinished, loop.CriticFinished: // the line of the iteration has it
	}
}

func (p *page) iteration(r loop.Round) {
	own, known := r.Alone(p.before)
	if p.raw {
		own, known = r.Change, true
	}
	if !known {
		own = r.Change
		p.note("the log does not hold what this iteration alone changed: the diff begins at the start of the session")
	}
	p.before = r.Change
	p.row(r)
	p.show("iteration", p.section(r, own))
}

// brokeOff writes an iteration that is not whole.
func (p *page) brokeOff(running bool) {
	open := p.state.Open
	if open.Number == 0 {
		return
	}
	what := "broke off"
	if running {
		what = "is"
	}
	if open.Phase != loop.Start {
		what += " in the " + words.Phase(open.Phase)
	} else if running {
		what += " at its beginning"
	}
	p.show("unfinished", section{Number: open.Number, Came: came{Word: what, Class: "warn"}, Turns: p.takeTurns(), Notes: p.takeNotes()})
}

func (p *page) takeTurns() []turn {
	all := p.turns
	p.turns = nil
	return all
}

// takeNotes takes what was noted in the iteration under way.
func (p *page) takeNotes(more ...string) []note {
	if text := render.Waited(p.state.Open.Waits); text != "" {
		more = append(more, text)
	}
	if w := p.state.Turn().Waiting; w != nil {
		more = append(more, render.Awaited(*w, p.opts.Zone))
	}
	p.note(more...)
	all := p.notes
	p.notes = nil
	return all
}

func (p *page) note(all ...string) {
	for _, text := range all {
		p.notes = append(p.notes, note{Text: line(text)})
	}
}
