package export

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/screen/render"
)

// A layout is a format: it writes each part of a session.
type layout interface {
	head(s loop.Session)
	iteration(s iteration)
	alone(t turn)
	unfinished(s iteration, what string)
	resumed(r loop.Resumed)
	end(e ending)
	flush(w io.Writer) error // writes what the other methods have collected
}

func layoutOf(o Options) layout {
	if o.Format == Markdown {
		return &markdown{sheet{quote: code, opts: o, budget: budget{id: o.Session.ID, left: markdownSize, most: mostOfMarkdown}}}
	}
	return &markup{sheet{quote: html.EscapeString, opts: o, budget: budget{id: o.Session.ID, left: mostOfAll, most: mostOfText}}}
}

// ours is text that is written unescaped. Constants convert to it implicitly, strings do not:
// the compiler keeps out what agents say, unless it is converted explicitly.
type ours string

// A sheet collects the text of a file.
type sheet struct {
	buf   bytes.Buffer
	quote func(string) string // makes a string one that the format shows as it is
	opts  Options
	budget
}

func (s *sheet) put(all ...ours) {
	for _, text := range all {
		s.buf.WriteString(string(text))
	}
}

// in writes a string, quoted, between texts of ours.
func (s *sheet) in(before ours, said string, behind ours) {
	s.put(before, ours(s.quote(said)), behind)
}

func (s *sheet) flush(w io.Writer) error {
	_, err := s.buf.WriteTo(w)
	return err
}

// essence returns what the actor said in a round, and what the verdict says.
func (b *budget) essence(r loop.Round) (words, guidance text) {
	name := "feedback"
	if r.Verdict.Decision == loop.Done {
		name = "summary"
	}
	return b.output("output", r.Attempt.Stdout), b.words(name, r.Verdict.Account())
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

// took says how long a turn took and how it ended.
func took(t loop.Turn) string { return render.Span(t.Duration) + ", " + render.Ending(t) }

// acted says the same of the actor's part of an iteration.
func acted(a loop.Attempt) string {
	if a.Rejudged {
		return render.ActorSummary(a.Agent, a)
	}
	return took(a.Turn)
}

// after says when a session was resumed.
func after(e loop.Resumed) string {
	return "Resumed after " + render.Count(e.Iterations, "iteration", "iterations")
}
