package export

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/screen/render"
	"codeloops/internal/screen/term"
	"codeloops/internal/screen/words"
	"codeloops/internal/session"
	"codeloops/internal/session/sessionview"
)

// What the templates show. All texts are cleaned and cut; agents wrote them, so that templates must quote them, except
// those of our own: names of facts, classes, sizes.

// A fact is a name of ours with a value.
type fact struct{ Name, Value string }

// Came is what came of something.
type came struct{ Word, Class string }

// A head is the beginning of a file.
type head struct {
	Title, ID string
	Came      came
	Facts     []fact
	Prompt    text
}

// A section is an iteration, whole or not.
type section struct {
	Number          int
	Came            came
	Took            string
	Turns           []turn // of the strategy
	Acted           string
	Said, Errors    text // of the actor
	Notes           []string
	Change          change
	Checks          []check
	Judged          string
	Reply, Guidance text // of the critic
}

// A turn is a turn of the strategy.
type turn struct {
	Role, What string
	Notes      []string
	Reply      text
}

// A change is what has changed, file by file.
type change struct {
	Stat  string
	Files []filed
	More  string // what is left out
}

type filed struct {
	Letter, Path, Stat string
	Open               bool
	Hunks              []hunk
	Note               string
}

// A hunk is consecutive lines of one class.
type hunk struct{ Class, Text string }

type check struct {
	Passed                bool
	Command, Result, Took string
	Remarks               []string
	Output                text
}

// An end is the end of a file.
type end struct {
	Came        came
	All         change // everything that changed
	Notes       []string
	Facts       []fact
	Summary     text
	Version, ID string
}

func cameTo(status, word string) came {
	switch status {
	case string(loop.Success), string(loop.Done):
		return came{word, "good"}
	case string(loop.Failed), string(session.Crashed), string(loop.Error):
		return came{word, "bad"}
	}
	return came{word, "warn"}
}

func (p *page) head(s loop.Session) {
	status := string(p.opts.Session.Status)
	p.show("head", head{
		Title: title(s), ID: line(p.id), Came: cameTo(status, line(words.Outcome(status))), Facts: p.facts(s), Prompt: p.words("", s.Prompt),
	})
}

func (p *page) facts(s loop.Session) []fact {
	judge, who := render.Judges(s.Critic, s.Policy.Panel)
	all := []fact{{"Project", project(s.WorkingDir)}, {"Actor", render.Who(s.Actor)}, {strings.ToUpper(judge[:1]) + judge[1:], who}}
	if one := p.opts.Session; !one.Started.IsZero() {
		all = append(all, fact{"Started", one.Started.In(p.opts.Zone).Format("2006-01-02 15:04:05 MST")})
		if one.Status != session.Running {
			all = append(all, fact{"Took", render.Span(one.Duration)})
		}
	}
	for _, t := range s.Templates {
		all = append(all, fact{"Own words", line(fmt.Sprintf("%s, sha256 %.12s", t.Key, t.SHA256))})
	}
	all = append(all, fact{"Base commit", line(s.BaseCommit)})
	return slices.DeleteFunc(all, func(f fact) bool { return f.Value == "" })
}

// project is the last part of a path, of this or another system: the rest is private.
func project(dir string) string {
	dir = strings.TrimRight(line(dir), `/\`)
	return dir[strings.LastIndexAny(dir, `/\`)+1:]
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

func (p *page) turn(at loop.Stamp, e loop.TurnFinished) turn {
	t := e.Reply.Turn
	what := fmt.Sprintf("%s, %s (%s)", render.Span(t.Duration), render.TurnSummary(t)+render.Decided(e), render.StepName(at, e.Iteration))
	return turn{Role: line(string(e.Role)), What: line(what), Notes: lines(render.FailedTries(t)), Reply: p.words("", e.Reply.Text)}
}

// section is an iteration; own is what it alone changed.
func (p *page) section(r loop.Round, own loop.Change) section {
	s := section{
		Number: r.Iteration, Came: cameTo(string(r.Verdict.Decision), line(r.Verdict.Word())), Took: render.Span(r.Attempt.Duration + r.Review.Duration),
		Turns: p.takeTurns(), Notes: p.takeNotes(r.Change.Warnings...),
		Acted: acted(r.Attempt), Said: p.output("output", r.Attempt.Stdout), // what matters most takes its room first
		Judged: judged(r), Guidance: p.words("feedback", r.Verdict.Account()),
		Change: change{Stat: render.Stat(own.Shape())},
	}
	if r.Verdict.Decision == loop.Done {
		s.Guidance.Name = "summary"
	}
	if !p.brief {
		s.Errors, s.Change = p.output("standard error", r.Attempt.Stderr), p.changed(own, mostOpen)
		s.Reply = p.words("the whole reply", r.Review.Reply)
		s.Reply.Long = true
	}
	for _, c := range r.Checks {
		one := check{Passed: c.Passed(), Command: line(c.Command), Result: "passed", Took: render.Span(c.Duration), Remarks: lines(c.Remarks())}
		if !one.Passed {
			one.Result = line(render.Failure(c))
		}
		if !p.brief || !one.Passed {
			one.Output = p.output("output", c.Output)
		}
		s.Checks = append(s.Checks, one)
	}
	return s
}

// took says how long a turn took and how it ended.
func took(t loop.Turn) string { return line(render.Span(t.Duration) + ", " + render.Ending(t)) }

// acted says the same of the actor's part of an iteration.
func acted(a loop.Attempt) string {
	if a.Rejudged {
		return line(render.ActorSummary(a.Agent, a))
	}
	return took(a.Turn)
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

// changed shows a change; the first files are unfolded, if they are small.
func (p *page) changed(c loop.Change, open int) change {
	room := mostOfDiff
	all := change{Stat: render.Stat(c.Shape())}
	for i, f := range c.Files {
		if i == mostOfFiles {
			all.More = fmt.Sprintf("%d more files are left out here; all of them are in %s.jsonl", len(c.Files)-i, line(p.id))
			break
		}
		one := named(f)
		patch, note := p.take(f.Patch, max(room, mostOfRest))
		room -= len(patch)
		one.Open, one.Hunks, one.Note = i < open && len(patch) < openFile, hunks(patch), note
		all.Files = append(all.Files, one)
	}
	return all
}

// named is a file without its patch.
func named(f loop.FileChange) filed {
	stat := fmt.Sprintf("+%d -%d", f.Insertions, f.Deletions)
	if f.Binary {
		stat = "binary"
	}
	return filed{Letter: render.Letter(f.Status), Path: line(render.Quoted(f.Path)), Stat: stat}
}

// hunks returns a patch without its header, as the file's name is shown.
func hunks(patch string) (all []hunk) {
	var text strings.Builder
	last := ""
	done := func() {
		if text.Len() > 0 {
			all = append(all, hunk{last, text.String()})
			text.Reset()
		}
	}
	for l := range loop.PatchLines(patch) {
		class := cmp.Or(map[byte]string{'@': "hunk", '+': "add", '-': "del"}[l.Op], "same")
		if class != last {
			done()
			last = class
		}
		text.WriteString(string(l.Op) + l.Text)
	}
	done()
	return all
}

func (p *page) end() {
	status := string(p.opts.Session.Status)
	e := end{Version: line(p.opts.Session.Session.Version), ID: line(p.id)}
	switch {
	case p.brief:
		e.All.Stat = render.Stat(p.change.Shape())
		for _, f := range p.change.Files[:min(len(p.change.Files), mostNamed)] {
			e.All.Files = append(e.All.Files, named(f))
		}
		if more := len(p.change.Files) - mostNamed; more > 0 {
			e.All.More = fmt.Sprintf("%d more", more)
		}
	case len(p.state.Closed) != 1: // else the iteration's diff shows all of it
		e.All = p.changed(p.change, 0)
	}
	e.Notes, e.Facts = p.takeNotes(), p.ending()
	if p.outcome != nil {
		status, e.Summary = string(p.outcome.Result), p.words("", p.outcome.Summary)
	}
	e.Came = cameTo(status, line(words.Outcome(status)))
	p.show("end", e)
}

// ending is the facts of the end.
func (p *page) ending() []fact {
	all := []fact{{"Iterations", strconv.Itoa(p.state.Iterations)}}
	if p.outcome != nil {
		if p.outcome.Reason != loop.StopNone {
			all = append(all, fact{"Reason", words.End(*p.outcome) + render.LeftOpen(*p.outcome)})
		}
		if c := p.outcome.Confidence; c != nil {
			all = append(all, fact{"Confidence", fmt.Sprintf("%.2f", *c)})
		}
	}
	all = append(all, fact{"Findings", render.Findings(p.state.Tally)})
	if cost := sessionview.Cost(&p.state.Tally); cost != "-" {
		all = append(all, fact{"Cost", cost + ", " + sessionview.CostBasis(&p.state.Tally)})
	}
	all = append(all, fact{"Agents at work", render.Span(p.state.Actor.Time + p.state.Critic.Time + p.working)}, fact{"Waited for services", waited(p.state.Waited())})
	return slices.DeleteFunc(all, func(f fact) bool { return f.Value == "" })
}

func waited(d time.Duration) string {
	if d <= 0 {
		return ""
	}
	return render.Span(d)
}
