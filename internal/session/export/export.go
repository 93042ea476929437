// Package export writes a session to one file, for other people.
//
// What agents wrote is treated as hostile: in HTML it is text, never a tag or an attribute,
// and in Markdown it is inside fences that it cannot close. No file is larger than some
// megabytes: long texts are cut, with a note of where the whole is.
package export

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/loop/progress"
	"codeloops/internal/screen/render"
	"codeloops/internal/screen/term"
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
	return follow(w, entries, o)
}

// An iteration is a round with what belongs to it.
type iteration struct {
	loop.Round
	own   loop.Change // what this iteration alone changed
	turns []turn      // of the strategy
	notes []string
}

// A turn is a turn of the strategy, as it is shown.
type turn struct {
	Role, What string
	Notes      []string
	reply      loop.Reply
}

func turnOf(at loop.Stamp, e loop.TurnFinished) turn {
	t := e.Reply.Turn
	what := fmt.Sprintf("%s, %s (%s)", render.Span(t.Duration), render.TurnSummary(t)+render.Decided(e), render.StepName(at, e.Iteration))
	return turn{Role: line(string(e.Role)), What: line(what), Notes: render.FailedTries(t), reply: e.Reply}
}

// An ending is what is known at the end of the log.
type ending struct {
	progress.State
	outcome *loop.Outcome // nil: the log has none
	change  loop.Change   // the last one of the user's work tree
	turns   []turn        // of the iteration under way
	notes   []string      // warnings after the last iteration
	working time.Duration // of all turns of the strategy
}

// follow reads a log from its first line to its last.
func follow(w io.Writer, entries sessionview.Entries, o Options) error {
	f := follower{layout: layoutOf(o)}
	for entry, err := range entries {
		if err != nil {
			return err
		}
		f.event(entry)
		_ = f.Handle(entry.At, entry.Event) // never fails
		if f.Forks().Takes(entry.At, entry.Event) {
			f.change = f.before
		}
		if err := f.flush(w); err != nil {
			return err
		}
	}
	f.brokeOff(o.Session.Status == session.Running)
	f.end(f.ending)
	return f.flush(w)
}

type follower struct {
	layout
	ending
	begun  bool
	before loop.Change // of the last iteration
}

func (f *follower) event(entry session.Entry) {
	if !f.begun {
		f.begun = true
		start, _ := entry.Event.(loop.Started) // of a log without its first line, nothing is known
		f.head(start.Session)
	}
	switch e := entry.Event.(type) {
	case loop.IterationStarted:
		f.turns = nil
	case loop.TurnFinished:
		f.working += e.Reply.Duration
		if t := turnOf(entry.At, e); e.Iteration == 0 {
			f.alone(t)
		} else {
			f.turns = append(f.turns, t)
		}
	case loop.ReviewRejected:
		f.notes = append(f.notes, "the critic was asked again: "+e.Review.Problem)
	case loop.Warned:
		f.notes = append(f.notes, e.Text)
	case loop.Steered:
		f.notes = append(f.notes, render.Steered(e))
	case loop.IterationFinished:
		f.round(e.Round)
	case loop.Resumed:
		f.brokeOff(false)
		f.outcome = nil
		f.resumed(e)
	case loop.Finished:
		f.outcome = &e.Outcome
		f.brokeOff(false)
	case loop.Started, loop.PhaseEntered, loop.Activity, loop.TurnStarted, loop.Noted, loop.WaitStarted, loop.WaitFinished, loop.BaselineChecked, loop.ActorFinished, loop.DiffCaptured, loop.Inspected,
		loop.ChecksFinished, loop.CriticFinished: // the line of the iteration has it
	}
}

func (f *follower) round(r loop.Round) {
	own, known := r.Alone(f.before)
	if !known {
		own = r.Change
		f.notes = append(f.notes, "the log does not hold what this iteration alone changed: the diff begins at the start of the session")
	}
	f.before = r.Change
	of := f.under()
	of.Round, of.own, of.notes = r, own, append(of.notes, r.Change.Warnings...)
	f.iteration(of)
}

// brokeOff writes an iteration that is not whole.
func (f *follower) brokeOff(running bool) {
	open := f.Open
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
	of := f.under()
	of.Iteration = open.Number
	f.unfinished(of, what)
}

// under takes what belongs to the iteration under way.
func (f *follower) under() iteration {
	of := iteration{turns: f.turns, notes: f.notes}
	if text := render.Waited(f.Open.Waits); text != "" {
		of.notes = append(of.notes, text)
	}
	f.turns, f.notes = nil, nil
	return of
}

// A fact is a name with a value.
type fact struct {
	Name  ours
	Value string
}

func facts(s loop.Session, o Options) []fact {
	judge, who := render.Judges(s.Critic, s.Policy.Panel)
	all := []fact{
		{"Project", project(s.WorkingDir)},
		{"Actor", render.Who(s.Actor)},
		{ours(strings.ToUpper(judge[:1]) + judge[1:]), who},
	}
	if !o.Session.Started.IsZero() {
		all = append(all, fact{"Started", o.Session.Started.In(o.Zone).Format("2006-01-02 15:04:05 MST")},
			fact{"Took", render.Span(o.Session.Duration)})
	}
	for _, t := range s.Templates {
		all = append(all, fact{"Own words", line(fmt.Sprintf("%s, sha256 %.12s", t.Key, t.SHA256))})
	}
	if s.BaseCommit != "" {
		all = append(all, fact{"Base commit", line(s.BaseCommit)})
	}
	return slices.DeleteFunc(all, func(f fact) bool { return f.Value == "" })
}

// project is the last part of a path, of this or another system: the rest is private.
func project(dir string) string {
	dir = strings.TrimRight(line(dir), `/\`)
	return dir[strings.LastIndexAny(dir, `/\`)+1:]
}

// facts are those of the end.
func (e ending) facts() []fact {
	all := []fact{{"Iterations", strconv.Itoa(e.Iterations)}}
	if e.outcome != nil {
		if e.outcome.Reason != loop.StopNone {
			all = append(all, fact{"Reason", words.End(*e.outcome) + render.LeftOpen(*e.outcome)})
		}
		if c := e.outcome.Confidence; c != nil {
			all = append(all, fact{"Confidence", fmt.Sprintf("%.2f", *c)})
		}
	}
	if text := render.Findings(e.Tally); text != "" {
		all = append(all, fact{"Findings", text})
	}
	if cost := sessionview.Cost(&e.Tally); cost != "-" {
		all = append(all, fact{"Cost", cost + ", " + sessionview.CostBasis(&e.Tally)})
	}
	all = append(all, fact{"Agents at work", render.Span(e.Actor.Time + e.Critic.Time + e.working)})
	if waited := e.Waited(); waited > 0 {
		all = append(all, fact{"Waited for services", render.Span(waited)})
	}
	return all
}

// title is the first line of a prompt that is not blank.
func title(s loop.Session) string {
	for text := range strings.Lines(term.Clean(beginning(s.Prompt, mostOfText))) {
		if text = strings.Trim(text, "# \t\r\n"); text != "" {
			return render.Cut(text, 120)
		}
	}
	return "codeloops session"
}

// class is the CSS class of an outcome.
func class(status string) ours {
	switch status {
	case string(loop.Success), string(loop.Done):
		return "good"
	case string(loop.Failed), string(session.Crashed), string(loop.Error):
		return "bad"
	}
	return "warn"
}
