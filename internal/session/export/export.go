// Package export writes a session to one file, for other people.
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
	Session session.Overview // only its id, its status and its times are used
	Zone    *time.Location
}

// Write writes a session. It holds one iteration at a time in memory.
func Write(w io.Writer, entries sessionview.Entries, o Options) error {
	if o.Format == JSON {
		return sessionview.Document(w, o.Session, entries, 0)
	}
	p := &page{out: w, opts: o, budget: budget{id: o.Session.ID, left: mostOfAll, most: mostOfText}}
	if o.Format == Markdown {
		p.left, p.most, p.brief = markdownSize, mostOfMarkdown, true
	}
	for entry, err := range entries {
		if err != nil {
			return err
		}
		p.event(entry)
		_ = p.state.Handle(entry.At, entry.Event) // never fails
		if p.state.Forks().Takes(entry.At, entry.Event) {
			p.change = p.before
		}
		if p.err != nil {
			return p.err
		}
	}
	p.brokeOff(o.Session.Status == session.Running)
	p.end()
	return p.err
}

// A page is a file while it is written, part by part.
type page struct {
	out  io.Writer
	err  error // the first one; nothing is written after it
	opts Options
	budget
	brief bool // without the diffs and all that is to be unfolded
	live  bool // parts of a larger page

	state   progress.State
	begun   bool
	outcome *loop.Outcome // nil: the log has none
	before  loop.Change   // of the last iteration
	change  loop.Change   // the last one of the user's work tree
	turns   []turn        // of the iteration under way
	notes   []string      // since the last iteration
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
		p.notes = append(p.notes, "the critic was asked again: "+e.Review.Problem)
	case loop.Warned:
		p.notes = append(p.notes, e.Text)
	case loop.Steered:
		p.notes = append(p.notes, render.Steered(e))
	case loop.IterationFinished:
		p.iteration(e.Round)
	case loop.Resumed:
		p.brokeOff(false)
		p.outcome = nil
		p.show("resumed", "Resumed after "+render.Count(e.Iterations, "iteration", "iterations"))
	case loop.Finished:
		p.outcome = &e.Outcome
		p.brokeOff(false)
	case loop.Started, loop.PhaseEntered, loop.Activity, loop.TurnStarted, loop.Noted, loop.WaitStarted, loop.WaitFinished, loop.BaselineChecked, loop.ActorFinished, loop.DiffCaptured, loop.Inspected,
		loop.ChecksFinished, loop.CriticFinished: // the line of the iteration has it
	}
}

func (p *page) iteration(r loop.Round) {
	own, known := r.Alone(p.before)
	if !known {
		own = r.Change
		p.notes = append(p.notes, "the log does not hold what this iteration alone changed: the diff begins at the start of the session")
	}
	p.before = r.Change
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
		what = "is running"
	}
	if open.Phase != loop.Start {
		what += " in the " + words.Phase(open.Phase)
	}
	p.show("unfinished", section{Number: open.Number, Came: came{Word: what, Class: "warn"}, Turns: p.takeTurns(), Notes: p.takeNotes()})
}

func (p *page) takeTurns() []turn {
	all := p.turns
	p.turns = nil
	return all
}

// takeNotes takes what was noted in the iteration under way.
func (p *page) takeNotes(more ...string) []string {
	all := append(p.notes, more...)
	if text := render.Waited(p.state.Open.Waits); text != "" {
		all = append(all, text)
	}
	p.notes = nil
	return lines(all)
}
