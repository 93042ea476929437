package export

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/screen/render"
	"codeloops/internal/screen/words"
)

// A page writes a session part by part, as its layout arranges them.
type page struct {
	out  io.Writer
	opts Options
	layout
	*budget
}

// A layout is a format: it writes each part of a session. Parts that take room and are not in
// every format are functions, which it calls if it needs them.
type layout interface {
	head(h head)
	iteration(r round)
	alone(turns []shownTurn)
	unfinished(u unfinished)
	resumed(r loop.Resumed)
	end(e end)
	flush(w io.Writer) error // writes what the other methods have collected
}

// ours is text that is written unescaped. Constants convert to it implicitly, strings do not:
// the compiler keeps out what agents say, unless it is converted explicitly.
type ours string

// A sheet collects unescaped text.
type sheet struct{ buf bytes.Buffer }

func (s *sheet) put(all ...ours) {
	for _, text := range all {
		s.buf.WriteString(string(text))
	}
}

func (s *sheet) flush(w io.Writer) error {
	_, err := s.buf.WriteTo(w)
	return err
}

func newPage(w io.Writer, o Options) *page {
	if o.Format == Markdown {
		return &page{w, o, &markdown{}, &budget{id: o.Session.ID, left: markdownSize, most: mostOfMarkdown}}
	}
	return &page{w, o, &markup{}, &budget{id: o.Session.ID, left: mostOfAll, most: mostOfText}}
}

// A head is the beginning of a page.
type head struct {
	Title, ID, Outcome string
	Class              ours
	Facts              []fact
	Prompt             text
}

func (p *page) start(s loop.Session) {
	status := string(p.opts.Session.Status)
	p.head(head{
		Title: title(s), ID: line(p.opts.Session.ID), Outcome: line(words.Outcome(status)), Class: class(status),
		Facts: facts(s, p.opts), Prompt: p.text("", s.Prompt),
	})
}

// A check is the result of a check, as it is shown.
type check struct {
	Class                 ours
	Result, Command, Took string
	Passed                bool
	Remarks               []string
	Output                func() text
}

// A round is an iteration, as it is shown.
type round struct {
	Number               int
	Class                ours
	Decision, Took, Stat string
	Turns                []shownTurn
	Notes                []string
	Checks               []check
	Actor, Critic        part
	Diff                 func() diff
}

// A part is what the actor or the critic did in an iteration, with the essential part of its
// words.
type part struct {
	What  string
	Words text
	Rest  func() text // the rest of what it wrote
}

func (p *page) round(s iteration) {
	var checks []check
	for _, c := range s.Checks {
		one := check{
			Class: "good", Result: "passed", Command: line(c.Command), Took: render.Span(c.Duration), Passed: c.Passed(), Remarks: c.Remarks(),
			Output: func() text { return p.output("output", c.Output) },
		}
		if !one.Passed {
			one.Class, one.Result = "bad", line(strings.Join(append([]string{render.Failure(c)}, one.Remarks...), "; "))
		}
		checks = append(checks, one)
	}
	guidance := "feedback"
	if s.Verdict.Decision == loop.Done {
		guidance = "summary"
	}
	p.iteration(round{
		Number: s.Iteration, Decision: line(s.Verdict.Word()), Class: class(string(s.Verdict.Decision)),
		Took:  render.Span(s.Attempt.Duration + s.Review.Duration),
		Turns: p.turns(s.turns),
		Actor: part{acted(s.Attempt), p.output("output", s.Attempt.Stdout), func() text { return p.output("standard error", s.Attempt.Stderr) }},
		Notes: cleaned(s.notes), Stat: render.Stat(s.own.Shape()), Diff: func() diff { return p.diff(s.own, true) }, Checks: checks,
		Critic: part{judged(s.Round), p.text(guidance, s.Verdict.Guidance()), func() text { return p.reply(s.Review) }},
	})
}

// reply is all that the critic said. It is always folded: the essential part is shown below
// it.
func (p *page) reply(r loop.Review) text {
	t := p.text("the whole reply", r.Reply)
	t.Long = true
	return t
}

// judged says in one line what the critic did, and what came of it.
func judged(r loop.Round) string {
	if r.Unjudged {
		return strings.TrimSuffix("not asked: "+line(r.Why), ": ")
	}
	said := took(r.Review.Turn)
	switch {
	case r.Review.Problem != "":
		said += "; no verdict: " + line(r.Review.Problem)
	case r.Review.Verdict.Word() != r.Verdict.Word():
		said += fmt.Sprintf("; it said %s, and %s counts", line(r.Review.Verdict.Word()), line(r.Verdict.Word()))
	}
	if c := r.Verdict.Confidence; c != nil {
		said += fmt.Sprintf("; confidence %.2f", *c)
	}
	return said
}

func cleaned(notes []string) []string {
	notes = slices.Clone(notes)
	for i := range notes {
		notes[i] = line(notes[i])
	}
	return notes
}

// An unfinished is an iteration that is not whole.
type unfinished struct {
	Number int
	What   string // that it broke off or is running: words of ours
	Turns  []shownTurn
	Notes  []string
}

// A shownTurn is a turn with its reply, as it is shown.
type shownTurn struct {
	turn

	Reply text
}

func (p *page) turns(all []turn) (shown []shownTurn) {
	for _, t := range all {
		reply := p.text("", t.reply.Text)
		reply.Long = reply.Long || len(all) > mostOpen
		shown = append(shown, shownTurn{t, reply})
	}
	return shown
}

// An end is the end of a page.
type end struct {
	ID, Version, Outcome, Stat string
	Class                      ours
	Notes                      []string
	Facts                      []fact
	Summary                    text
	Named                      []fileDiff // the first of those that changed
	More                       int        // that are not named
	Diff                       func() diff
}

func (p *page) finish(e ending) {
	status, summary := string(p.opts.Session.Status), text{}
	if e.outcome != nil {
		status, summary = string(e.outcome.Result), p.text("", e.outcome.Summary)
	}
	all := func() (d diff) {
		if len(e.Closed) != 1 { // else the iteration's diff shows all of it
			d = p.diff(e.change, false)
		}
		return d
	}
	var named []fileDiff
	for _, f := range e.change.Files[:min(len(e.change.Files), mostNamed)] {
		named = append(named, titled(f))
	}
	p.end(end{
		Named: named, More: len(e.change.Files) - len(named),
		Diff: all, Stat: render.Stat(e.change.Shape()), Outcome: line(words.Outcome(status)), Class: class(status),
		Notes: cleaned(e.notes), Facts: e.facts(), Summary: summary,
		ID: line(p.opts.Session.ID), Version: line(p.opts.Session.Session.Version),
	})
}
