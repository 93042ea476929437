// Package export writes a session as one file to hand on.
//
// What stands in it comes from agents and is hostile: in HTML it is text, never
// a tag or an attribute, and in Markdown it stands in fences that it cannot
// close. No file is larger than some megabytes: long texts are cut, with a note
// of where the whole is.
package export

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"codeloops/internal/browse"
	"codeloops/internal/loop"
	"codeloops/internal/metrics"
	"codeloops/internal/recorded"
	"codeloops/internal/render"
	"codeloops/internal/session"
	"codeloops/internal/term"
)

// A Format names a kind of file.
type Format string

// The formats.
const (
	HTML     Format = "html"
	Markdown Format = "markdown"
	JSON     Format = "json"
)

// Formats lists all of them.
func Formats() []string { return []string{string(HTML), string(Markdown), string(JSON)} }

// Ending is what the name of a file of the format ends in.
func (f Format) Ending() string {
	if f == Markdown {
		return ".md"
	}
	return "." + string(f)
}

// FormatOf returns the format that the name of a file tells; ok is false when
// it tells none.
func FormatOf(name string) (f Format, ok bool) {
	for f, endings := range map[Format][]string{HTML: {".html", ".htm"}, Markdown: {".md", ".markdown"}, JSON: {".json"}} {
		for _, ending := range endings {
			if strings.HasSuffix(strings.ToLower(name), ending) {
				return f, true
			}
		}
	}
	return "", false
}

// Options are of what is written, and for whom.
type Options struct {
	Format  Format
	Session session.Overview // only its id, its status and its times are used
	Zone    *time.Location
	Bad     func(error) // is told of lines that could not be read
}

// Write writes a session. It holds one iteration at a time.
func Write(w io.Writer, entries browse.Entries, o Options) error {
	switch o.Format {
	case JSON:
		return browse.Document(w, o.Session, entries, 0, o.Bad)
	case Markdown:
		return follow(entries, o, newMarkdown(w, o))
	case HTML:
	}
	return follow(entries, o, newPage(w, o))
}

// A writer writes the parts of a session in the order in which they came.
type writer interface {
	start(s loop.Session) error
	iteration(r step) error
	unfinished(n int, what string, notes []string) error
	resumed(e loop.Resumed) error
	end(e ending) error
}

// A step is one iteration with what belongs to it.
type step struct {
	loop.Round
	own   loop.Change // what this iteration alone changed
	notes []string
}

// An ending is what is known when the log has been read.
type ending struct {
	outcome *loop.Outcome // nil: the log has none
	change  loop.Change   // the last one
	single  bool          // one iteration made it
	tally   metrics.Tally
	notes   []string // warnings after the last iteration
}

// follow reads a log from its first line to its last.
func follow(entries browse.Entries, o Options, w writer) error {
	f := follower{writer: w, options: o}
	for entry, err := range entries {
		if bad, ok := errors.AsType[*session.LineError](err); ok {
			o.Bad(bad)
			continue
		}
		if err != nil {
			return err
		}
		_ = f.tally.Handle(entry.At, entry.Event) // never fails
		if err := f.entry(entry.Event); err != nil {
			return err
		}
	}
	if err := f.brokeOff(o.Session.Status == session.Running); err != nil {
		return err
	}
	f.ending.notes = f.notes
	return w.end(f.ending)
}

type follower struct {
	writer
	ending
	options Options

	begun bool
	open  int        // the iteration that is not whole; 0: none
	state loop.State // that it has reached
	notes []string
	waits []loop.Wait
	count int
}

func (f *follower) entry(e loop.Event) error {
	if start, ok := e.(loop.Started); ok && !f.begun {
		f.begun = true
		return f.start(start.Session)
	}
	if !f.begun { // a log without its first line
		f.begun = true
		if err := f.start(loop.Session{}); err != nil {
			return err
		}
	}
	switch e := e.(type) {
	case loop.IterationStarted:
		f.open, f.state = e.Iteration, loop.Start
	case loop.PhaseEntered:
		f.open, f.state = e.Iteration, e.State
	case loop.ReviewRejected:
		f.notes = append(f.notes, "the critic was asked again: "+line(e.Review.Problem))
	case loop.Warned:
		f.notes = append(f.notes, line(e.Text))
	case loop.WaitFinished:
		f.waits = append(f.waits, e.Wait)
	case loop.IterationFinished:
		return f.round(e.Round)
	case loop.Resumed:
		err := f.brokeOff(false)
		f.outcome = nil
		return errors.Join(err, f.resumed(e))
	case loop.Finished:
		f.outcome = &e.Outcome
		return f.brokeOff(false)
	case loop.Started, loop.Activity, loop.WaitStarted, loop.BaselineChecked, loop.ActorFinished, loop.DiffCaptured, loop.Inspected,
		loop.ChecksFinished, loop.CriticFinished: // the line of the iteration has it
	}
	return nil
}

func (f *follower) round(r loop.Round) error {
	own, missing := recorded.Between(f.change, r.Change)
	for _, m := range missing {
		f.notes = append(f.notes, line(m.Error()))
	}
	s := step{Round: r, own: own, notes: append(f.takeNotes(), r.Change.Warnings...)}
	f.change, f.open = r.Change, 0
	f.count++
	f.single = f.count == 1
	return f.iteration(s)
}

// brokeOff tells of an iteration that is not whole.
func (f *follower) brokeOff(running bool) error {
	if f.open == 0 {
		return nil
	}
	what := "broke off"
	if running {
		what = "is running"
	}
	if f.state != loop.Start {
		what += " in " + f.state.String()
	}
	n := f.open
	f.open = 0
	return f.unfinished(n, what, f.takeNotes())
}

func (f *follower) takeNotes() []string {
	notes := f.notes
	if text := render.Waited(f.waits); text != "" {
		notes = append(notes, line(text))
	}
	f.notes, f.waits = nil, nil
	return notes
}

// A fact is a name with a value.
type fact struct{ Name, Value string }

func facts(s loop.Session, o Options) []fact {
	all := []fact{
		{"Project", project(s.WorkingDir)},
		{"Actor", render.Who(s.Actor)},
		{"Critic", render.Who(s.Critic)},
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

// project is the last part of a path, of this system or another: the rest is
// nobody else's business.
func project(dir string) string {
	dir = strings.TrimRight(line(dir), `/\`)
	return dir[strings.LastIndexAny(dir, `/\`)+1:]
}

// facts are those of the end.
func (e ending) facts() []fact {
	all := []fact{{"Iterations", strconv.Itoa(e.tally.Iterations)}}
	if e.outcome != nil {
		if e.outcome.Reason != loop.StopNone {
			all = append(all, fact{"Reason", line(string(e.outcome.Reason)) + render.LeftOpen(*e.outcome)})
		}
		if c := e.outcome.Confidence; c != nil {
			all = append(all, fact{"Confidence", fmt.Sprintf("%.2f", *c)})
		}
	}
	if cost := browse.Cost(&e.tally); cost != "-" {
		all = append(all, fact{"Cost", cost + ", " + browse.Told(&e.tally)})
	}
	all = append(all, fact{"Agents at work", render.Span(e.tally.ActorTime + e.tally.CriticTime)})
	if waited := e.tally.Waited(); waited > 0 {
		all = append(all, fact{"Waited for services", render.Span(waited)})
	}
	return all
}

// title is the first line of a prompt that says something.
func title(s loop.Session) string {
	for text := range strings.Lines(term.Clean(beginning(s.Prompt, mostOfText))) {
		if text = strings.Trim(text, "# \t\r\n"); text != "" {
			return render.Cut(text, 120)
		}
	}
	return "codeloops session"
}

// class is how an outcome is coloured.
func class(status string) string {
	switch status {
	case string(loop.Success), string(loop.Done):
		return "good"
	case string(loop.Failed), string(session.Crashed), string(loop.Error):
		return "bad"
	}
	return "warn"
}

// took is the time of a turn with how it ended.
func took(t loop.Turn) string { return render.Span(t.Duration) + ", " + render.Fate(t) }

// acted is the same for the actor's part of an iteration.
func acted(a loop.Attempt) string {
	if a.Rejudged {
		return render.Acted(a.Agent, a)
	}
	return took(a.Turn)
}
