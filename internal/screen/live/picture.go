package live

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/loop/progress"
	"codeloops/internal/screen/render"
	"codeloops/internal/screen/term"
)

// How much is drawn at most.
const (
	mostTurns = 6   // at the same time
	mostDone  = 3   // of what an agent did before
	mostLine  = 300 // bytes of what an agent says that are kept
)

// A board is what is known of a run that goes on.
type board struct {
	Options
	looks
	state  progress.State
	doing  map[loop.Step]*doing
	change loop.Change // the last one that was captured
}

// goesOn reports whether the run has begun and is not over.
func (b *board) goesOn() bool {
	return !b.state.Ended && !b.state.At.Time.IsZero()
}

// A doing is what an agent does in its turn.
type doing struct {
	acts    []act // the last ones
	printed string
	edited  map[string]bool
}

// An act is one thing that an agent does.
type act struct {
	kind loop.NoticeKind
	text string
}

// take notes what an agent does.
func (b *board) take(at loop.Stamp, e loop.Activity) {
	d := b.doing[at.Step]
	if d == nil {
		d = &doing{edited: map[string]bool{}}
		b.doing[at.Step] = d
	}
	if e.Kind == loop.NoticeOutput {
		if line := lastLine(e.Text); line != "" {
			d.printed = line
		}
		return
	}
	text := e.Text[:min(len(e.Text), mostLine)]
	if b.Root != "" {
		text = strings.ReplaceAll(text, strings.TrimSuffix(b.Root, "/")+"/", "")
	}
	if e.Kind == loop.NoticeEdit {
		d.edited[text] = true
	}
	if d.acts = append(d.acts, act{e.Kind, term.Line(text)}); len(d.acts) > mostDone+1 {
		d.acts = d.acts[1:]
	}
}

// printed is what an agent prints, as lines that stay.
func (b *board) printed(e loop.Activity, width int) string {
	var lines strings.Builder
	for line := range strings.Lines(term.Clean(e.Text)) {
		lines.WriteString(b.faint("  "+b.bar()+" "+render.Cut(strings.TrimRight(line, "\n"), width-4)) + "\n")
	}
	return lines.String()
}

// lastLine returns the last line with something on it, of a text that may be long.
func lastLine(text string) string {
	if len(text) > mostLine {
		text = text[len(text)-mostLine:]
	}
	text = strings.TrimRight(text, " \t\r\n")
	return term.Line(text[strings.LastIndexByte(text, '\n')+1:])
}

// turns are those under way.
func (b *board) turns() (turns []progress.Step) {
	for _, step := range b.state.Steps {
		if step.Role != "" && !step.Over {
			turns = append(turns, step)
		}
	}
	return turns
}

// underWay says who is at work, and on what.
func (b *board) underWay() (lines []string) {
	turns := b.turns()
	for i, t := range turns {
		if i == mostTurns {
			return append(lines, b.faint(fmt.Sprintf("  … and %d more", len(turns)-i)))
		}
		lines = append(lines, b.turn(t))
		if len(turns) == 1 {
			lines = append(lines, b.acts(t)...)
		} else if what := b.now(t); what != "" {
			lines[len(lines)-1] += "  " + what
		}
	}
	if len(turns) == 0 {
		if what := b.phase(); what != "" {
			lines = append(lines, "  "+b.spinner()+" "+what)
		}
	}
	return lines
}

// turn says who plays a turn, and for how long.
func (b *board) turn(t progress.Step) string {
	name := string(t.Role)
	if t.Path.Name() != name && t.Path.Iteration() == 0 {
		name = string(t.Path)
	}
	began, who := t.Began, render.Who(t.Agent)
	parts := []string{"  " + b.strong(fmt.Sprintf("%-8s", term.Line(name))) + " " + who}
	took := clock(b.Now().Sub(began))
	if b.Limits.Turn > 0 {
		took += " of " + limit(b.Limits.Turn)
	}
	parts = append(parts, took)
	if d := b.doing[t.Path]; d != nil && len(d.edited) > 0 {
		parts = append(parts, render.Count(len(d.edited), "file", "files")+" edited")
	}
	return strings.Join(parts, b.dot())
}

// alive is one line on what is under way; "": nothing is.
func (b *board) alive() string {
	turns := b.turns()
	if len(turns) == 0 || b.state.Ended {
		return ""
	}
	t := turns[0]
	line := fmt.Sprintf("  %-8s %s at work for %s", term.Line(string(t.Role)), render.Who(t.Agent), render.Span(b.Now().Sub(t.Began).Round(time.Second)))
	if t.Waiting != nil {
		line = fmt.Sprintf("  %-8s %s", term.Line(string(t.Role)), b.waits(*t.Waiting))
	} else if what := b.now(t); what != "" {
		line += ": " + what
	}
	if len(turns) > 1 {
		line += fmt.Sprintf(", and %d more at work", len(turns)-1)
	}
	return b.faint(line)
}

// phase says what goes on where no agent is at work.
func (b *board) phase() string {
	open := b.state.Open
	since := clock(b.Now().Sub(open.Since))
	switch {
	case b.state.Paused:
		return "paused"
	case open.Number == 0:
		return "at work"
	case open.Phase == loop.CapturingDiff:
		return "looking at what has changed" + b.dot() + since
	case open.Phase == loop.Verifying:
		return "running the checks" + b.dot() + since
	}
	return "at work"
}

// acts are what an agent has done last, and what it does now.
func (b *board) acts(t progress.Step) (lines []string) {
	if t.Waiting != nil {
		return []string{"  " + b.spinner() + " " + b.waits(*t.Waiting)}
	}
	d := b.doing[t.Path]
	if d == nil || len(d.acts) == 0 {
		text := "no word from it yet"
		if d != nil && d.printed != "" {
			text = d.printed
		}
		return []string{"  " + b.spinner() + " " + b.faint(text)}
	}
	for _, a := range d.acts[:len(d.acts)-1] {
		lines = append(lines, b.faint(fmt.Sprintf("    %-5s %s", verb(a.kind), a.text)))
	}
	last := d.acts[len(d.acts)-1]
	return append(lines, fmt.Sprintf("  %s %s %s", b.spinner(), b.style(last.kind).Render(fmt.Sprintf("%-5s", verb(last.kind))), last.text))
}

// waits says for how long, and for what, a turn stands still.
func (b *board) waits(w loop.Wait) string {
	what := "waiting " + clock(w.Until.Sub(b.Now())) + " for the rate limit"
	if w.Cause == loop.EndOverloaded {
		what = "waiting " + clock(w.Until.Sub(b.Now())) + " for an overloaded service"
	}
	what = b.Style.NewStyle().Foreground(yellow).Render(what)
	if b.Keys {
		what += b.dot() + tryAgain
	}
	return what
}

const tryAgain = "w tries again now"

// now is what an agent does, in few words.
func (b *board) now(t progress.Step) string {
	d := b.doing[t.Path]
	switch {
	case t.Waiting != nil:
		return b.waits(*t.Waiting)
	case d == nil:
		return ""
	case len(d.acts) > 0:
		last := d.acts[len(d.acts)-1]
		return b.style(last.kind).Render(verb(last.kind)) + " " + last.text
	}
	return b.faint(d.printed)
}

// verb is what an agent does, in one word.
func verb(k loop.NoticeKind) string {
	switch k {
	case loop.NoticeMessage:
		return "says"
	case loop.NoticeTool:
		return "uses"
	case loop.NoticeCommand:
		return "runs"
	case loop.NoticeEdit:
		return "edits"
	case loop.NoticeProblem:
		return "fault"
	case loop.NoticeChange:
		return "next"
	case loop.NoticeOutput:
	}
	return "prints"
}

// clock writes how long something has taken so far: 4:05 or 1:02:03.
func clock(d time.Duration) string {
	seconds := int(max(0, d) / time.Second)
	if seconds >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", seconds/3600, seconds/60%60, seconds%60)
	}
	return fmt.Sprintf("%d:%02d", seconds/60, seconds%60)
}

// limit writes the limit of a turn.
func limit(d time.Duration) string {
	if d%time.Minute == 0 {
		return cmp.Or(strings.TrimSuffix(strings.TrimSuffix(d.String(), "0s"), "0m"), "0m")
	}
	return d.String()
}

// foot says where the run stands.
func (b *board) foot() string {
	var parts []string
	if n := b.state.Open.Number; n > 0 {
		at := fmt.Sprintf("iteration %d", n)
		if most := b.state.Session.MaxIterations; most > 0 {
			at += fmt.Sprintf(" of %d", most)
		}
		parts = append(parts, at)
	}
	spent := b.state.Spent.Total()
	if k := spent.Tokens; k > 0 {
		parts = append(parts, render.Tokens(k)+" tokens")
	}
	if usd := spent.CostUSD; usd > 0 || b.Limits.Cost > 0 {
		cost := render.Dollars(usd)
		if b.Limits.Cost > 0 {
			cost += " of " + render.Dollars(b.Limits.Cost)
		}
		parts = append(parts, cost)
	}
	if c := b.state.Change; c != nil {
		parts = append(parts, render.Stat(*c))
	}
	parts = append(parts, clock(b.Now().Sub(b.state.Began))+" in all")
	return b.faint("  " + strings.Join(parts, b.dot()))
}
