package export

import (
	"crypto/sha256"
	_ "embed" // the page and its style
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/screen/render"
	"codeloops/internal/screen/words"
)

//go:embed page.html
var pageText string

//go:embed style.css
var style string

// A page writes a session part by part, by the templates of its format. What takes room and
// is not in every format, they call for.
type page struct {
	out  io.Writer
	opts Options
	tmpl interface {
		ExecuteTemplate(w io.Writer, name string, data any) error
	}
	*budget
}

func newPage(w io.Writer, o Options) *page {
	p := &page{out: w, opts: o, budget: &budget{id: o.Session.ID}}
	if o.Format == Markdown {
		p.left, p.most, p.tmpl = markdownSize, mostOfMarkdown, newMarkdown()
	} else {
		// It escapes what it is given by the place where it stands; the policy lets a browser
		// load nothing at all, and use no style but the page's own, should something slip through.
		p.left, p.most, p.tmpl = mostOfAll, mostOfText, template.Must(template.New("page").Parse(pageText))
	}
	return p
}

func (p *page) write(part string, data any) error { return p.tmpl.ExecuteTemplate(p.out, part, data) }

func policy() string {
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"
}

func (p *page) start(s loop.Session) error {
	status := string(p.opts.Session.Status)
	return p.write("head", map[string]any{
		"Policy": policy(),
		"Style":  template.CSS(style), //nolint:gosec // it is ours
		"Title":  title(s), "ID": line(p.opts.Session.ID),
		"Outcome": line(words.Outcome(status)), "Class": class(status),
		"Facts": facts(s, p.opts), "Prompt": p.text("", s.Prompt),
	})
}

// A check is one as it is shown.
type check struct {
	Class, Result, Command, Took string
	Passed                       bool
	Remarks                      []string
	Output                       func() text
}

func (p *page) iteration(s iteration) error {
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
	return p.write("iteration", map[string]any{
		"Number": s.Iteration, "Decision": line(string(s.Verdict.Decision)), "Class": class(string(s.Verdict.Decision)),
		"Took":  render.Span(s.Attempt.Duration + s.Review.Duration),
		"Turns": p.turns(s.turns),
		"Actor": acted(s.Attempt), "Output": p.output("output", s.Attempt.Stdout), "Stderr": func() text { return p.output("standard error", s.Attempt.Stderr) },
		"Notes": cleaned(s.notes), "Stat": render.Stat(s.own.Shape()), "Diff": func() diff { return p.diff(s.own, true) }, "Checks": checks,
		"Critic": judged(s.Round), "Reply": func() text { return p.reply(s.Review) }, "Guidance": p.text(guidance, s.Verdict.Guidance()),
	})
}

// reply is the whole of what the critic said, always folded away: what counts of
// it stands below.
func (p *page) reply(r loop.Review) text {
	t := p.text("the whole reply", r.Reply)
	t.Long = true
	return t
}

// judged says in a line what the critic did, and what came of it.
func judged(r loop.Round) string {
	if r.Unjudged {
		return "not asked: " + line(r.Why)
	}
	said := took(r.Review.Turn)
	switch {
	case r.Review.Problem != "":
		said += "; no verdict: " + line(r.Review.Problem)
	case r.Review.Verdict.Decision != r.Verdict.Decision:
		said += fmt.Sprintf("; it said %s, and %s counts", line(string(r.Review.Verdict.Decision)), line(string(r.Verdict.Decision)))
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

func (p *page) unfinished(n int, what string, of iteration) error {
	return p.write("open", map[string]any{"Number": n, "What": what, "Turns": p.turns(of.turns), "Notes": cleaned(of.notes)})
}

func (p *page) turn(t turn) error { return p.write("alone", p.turns([]turn{t})) }

// A shownTurn is a turn with its reply as it is shown.
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

func (p *page) resumed(e loop.Resumed) error {
	return p.write("resumed", "Resumed after "+render.Count(e.Iterations, "iteration", "iterations"))
}

func (p *page) end(e ending) error {
	status, summary := string(p.opts.Session.Status), text{}
	if e.outcome != nil {
		status, summary = string(e.outcome.Result), p.text("", e.outcome.Summary)
	}
	all := func() (d diff) {
		if len(e.Closed) != 1 { // else the diff of the one is all of it
			d = p.diff(e.change, false)
		}
		return d
	}
	var named []file
	for _, f := range e.change.Files[:min(len(e.change.Files), mostNamed)] {
		named = append(named, titled(f))
	}
	return p.write("end", map[string]any{
		"Named": named, "More": len(e.change.Files) - len(named),
		"Diff": all, "Stat": render.Stat(e.change.Shape()), "Outcome": line(words.Outcome(status)), "Class": class(status),
		"Notes": cleaned(e.notes), "Facts": e.facts(), "Summary": summary,
		"ID": line(p.opts.Session.ID), "Version": line(p.opts.Session.Session.Version),
	})
}
