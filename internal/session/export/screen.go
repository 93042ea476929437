package export

import (
	"cmp"
	_ "embed" // the template
	"fmt"
	"io"
	"slices"
	"strings"
	plain "text/template"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/screen/render"
	"codeloops/internal/screen/term"
	"codeloops/internal/screen/words"
	"codeloops/internal/session"
	"codeloops/internal/session/sessionview"
)

//go:embed page.txt.tmpl
var screenText string

// screenLayout shows a session on a screen. Its texts are as they were said: it cleans them as it takes their
// beginning, or end, to the width of the screen.
func (p *page) screenLayout() layout {
	s, full := p.opts.Screen, p.opts.Full
	lines := func(heading string, t text, lines []string) string {
		if full {
			lines = strings.Split(strings.TrimRight(term.Clean(t.Body), "\n"), "\n")
		}
		if strings.TrimSpace(t.Body) == "" {
			lines = nil
		} else if heading != "" {
			lines = append([]string{"  " + s.Faint(heading)}, indented(lines)...)
		} else {
			lines = indented(lines)
		}
		if t.Note != "" {
			lines = append(lines, "    "+s.Faint(t.Note))
		}
		if len(lines) == 0 {
			return ""
		}
		return strings.Join(lines, "\n") + "\n"
	}
	return plain.Must(plain.New("").Funcs(plain.FuncMap{
		"strong": s.Strong, "faint": s.Faint, "coloured": s.Coloured, "full": func() bool { return full },
		"row": func(name, value string) string { return fmt.Sprintf("  %-10s %s\n", name, value) },
		"quote": func(heading string, t text, most int) string {
			return lines(heading, t, render.Excerpt(t.Body, most, s.Width-6))
		},
		"prose": func(heading string, t text, most int) string {
			return lines(heading, t, render.Paragraphs(t.Body, most, s.Width-6))
		},
		"tail": func(t text, most int) string { return lines("", t, render.Tail(t.Body, most, s.Width-6)) },
	}).Parse(screenText))
}

func indented(lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = strings.TrimRight("    "+line, " ")
	}
	return out
}

// Brief writes only how a session began and ended.
func Brief(w io.Writer, o Options) error {
	p := newPage(w, o)
	p.head(o.Session.Session)
	if p.outcome = o.Session.Outcome; p.outcome != nil {
		if t := o.Session.Tally; t != nil {
			p.state.Tally = *t
		}
		p.ended()
	}
	return p.err
}

// own are the facts on a session for its user, of which others need not know all.
func (p *page) own(s loop.Session) (all []fact) {
	add := func(name, value string) { all = append(all, fact{name, value}) }
	one := p.opts.Session
	if !one.Started.IsZero() {
		judge, who := render.Judges(s.Critic, s.Policy.Panel)
		add("started", fmt.Sprintf("%s, took %s", one.Started.In(p.opts.Zone).Format(time.DateTime), render.Span(one.Duration)))
		add("project", term.Line(s.WorkingDir))
		add("actor", render.Who(s.Actor))
		add(judge, who)
	}
	add("task", term.Line(s.Task))
	if one.Status == session.Crashed && s.Checkpoint != "" {
		add("carry on", "codeloops resume "+term.Line(one.ID))
	}
	for _, line := range render.Templates(s) {
		add("template", line)
	}
	if s.MaxIterations > 0 {
		add("limit", render.Count(s.MaxIterations, "iteration", "iterations"))
	}
	add("base", term.Line(s.BaseCommit))
	add("log", term.Line(one.Path))
	return slices.DeleteFunc(all, func(f fact) bool { return f.Value == "" })
}

// ended shows the end of a run on a screen.
func (p *page) ended() {
	e := end{Notes: p.takeNotes(), Facts: []fact{{"findings", render.Findings(p.state.Tally)}, {"cost", sessionview.Spending(&p.state.Tally)}}}
	if o := p.outcome; o != nil {
		e.Came.Word = p.opts.Screen.Outcome(string(o.Result))
		e.Took = fmt.Sprintf("after %s, %s%s%s", render.Count(o.Iterations, "iteration", "iterations"), render.Span(o.Duration), render.WaitNote(p.state.Waited()), render.LeftOpen(*o))
		if o.Confidence != nil {
			e.Facts = append([]fact{{"confidence", fmt.Sprintf("%.2f", *o.Confidence)}}, e.Facts...)
		}
		e.Summary, e.Remedy = p.words("", o.Summary), p.words("", words.Remedy(*o))
	} else {
		e.Facts = e.Facts[1:]
	}
	e.Facts = slices.DeleteFunc(e.Facts, func(f fact) bool { return f.Value == "" })
	p.show("end", e)
}

// stepped shows what the steps of the strategy came to, where it has made some.
func (p *page) stepped() {
	if len(p.steps.all) == 0 {
		return
	}
	p.show("steps", struct {
		Name  string
		Steps []string
	}{term.Line(cmp.Or(p.state.Session.Strategy.Name, "steps")), p.steps.lines(p.opts.Screen.Width)})
}
