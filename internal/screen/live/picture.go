package live

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/lipgloss"

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
func (s *Screen) take(at loop.Stamp, e loop.Activity) {
	d := s.doing[at.Step]
	if d == nil {
		d = &doing{edited: map[string]bool{}}
		s.doing[at.Step] = d
	}
	if e.Kind == loop.NoticeOutput {
		if s.all {
			s.show(e)
		}
		if line := lastLine(e.Text); line != "" {
			d.printed = line
		}
		return
	}
	text := e.Text[:min(len(e.Text), mostLine)]
	if s.Root != "" {
		text = strings.ReplaceAll(text, strings.TrimSuffix(s.Root, "/")+"/", "")
	}
	if e.Kind == loop.NoticeEdit {
		d.edited[text] = true
	}
	if d.acts = append(d.acts, act{e.Kind, term.Line(text)}); len(d.acts) > mostDone+1 {
		d.acts = d.acts[1:]
	}
}

// show shows what an agent prints, as lines that stay.
func (s *Screen) show(e loop.Activity) {
	width, _ := s.Size()
	var lines strings.Builder
	faint := s.Style.NewStyle().Faint(true)
	for line := range strings.Lines(term.Clean(e.Text)) {
		lines.WriteString(faint.Render("  "+s.bar()+" "+render.Cut(strings.TrimRight(line, "\n"), width-4)) + "\n")
	}
	if s.hidden == 0 {
		s.put([]byte(lines.String()))
	}
}

func (s *Screen) bar() string {
	if s.ASCII {
		return "|"
	}
	return "│"
}

// lastLine returns the last line with something on it, of a text that may be long.
func lastLine(text string) string {
	if len(text) > mostLine {
		text = text[len(text)-mostLine:]
	}
	text = strings.TrimRight(text, " \t\r\n")
	return term.Line(text[strings.LastIndexByte(text, '\n')+1:])
}

// picture is what is under way, line by line, as it fits on the terminal.
func (s *Screen) picture() []string {
	if s.Plain || s.state.Ended || s.state.Began.IsZero() && s.state.At.Time.IsZero() {
		return nil
	}
	width, height := s.Size()
	if width <= 0 {
		return nil
	}
	lines := append([]string{""}, s.underWay()...)
	lines = append(lines, s.foot()...)
	if room := max(1, min(height-1, 14)); len(lines) > room {
		lines = lines[len(lines)-room:]
	}
	for i, line := range lines {
		lines[i] = term.Fit(line, width-1)
	}
	return lines
}

// turns are those under way.
func (s *Screen) turns() (turns []progress.Step) {
	for _, step := range s.state.Steps {
		if step.Role != "" && !step.Over {
			turns = append(turns, step)
		}
	}
	return turns
}

// underWay says who is at work, and on what.
func (s *Screen) underWay() (lines []string) {
	turns := s.turns()
	for i, t := range turns {
		if i == mostTurns {
			return append(lines, s.faint(fmt.Sprintf("  … and %d more", len(turns)-i)))
		}
		lines = append(lines, s.turn(t))
		if len(turns) == 1 {
			lines = append(lines, s.acts(t)...)
		} else if what := s.now(t); what != "" {
			lines[len(lines)-1] += "  " + what
		}
	}
	if len(turns) == 0 {
		if what := s.phase(); what != "" {
			lines = append(lines, "  "+s.spinner()+" "+what)
		}
	}
	return lines
}

// turn says who plays a turn, and for how long.
func (s *Screen) turn(t progress.Step) string {
	name := string(t.Role)
	if t.Path.Name() != name && t.Path.Iteration() == 0 {
		name = string(t.Path)
	}
	began, who := t.Began, render.Who(t.Agent)
	parts := []string{"  " + s.strong(fmt.Sprintf("%-8s", term.Line(name))) + " " + who}
	took := clock(s.Now().Sub(began))
	if s.Turn > 0 {
		took += " of " + limit(s.Turn)
	}
	parts = append(parts, took)
	if d := s.doing[t.Path]; d != nil && len(d.edited) > 0 {
		parts = append(parts, render.Count(len(d.edited), "file", "files")+" edited")
	}
	return strings.Join(parts, s.dot())
}

// alive is one line on what is under way; "": nothing is.
func (s *Screen) alive() string {
	turns := s.turns()
	if len(turns) == 0 || s.state.Ended {
		return ""
	}
	t := turns[0]
	line := fmt.Sprintf("  %-8s %s at work for %s", term.Line(string(t.Role)), render.Who(t.Agent), render.Span(s.Now().Sub(t.Began).Round(time.Second)))
	if t.Waiting != nil {
		line = fmt.Sprintf("  %-8s %s", term.Line(string(t.Role)), s.waits(*t.Waiting))
	} else if what := s.now(t); what != "" {
		line += ": " + what
	}
	if len(turns) > 1 {
		line += fmt.Sprintf(", and %d more at work", len(turns)-1)
	}
	return s.faint(line)
}

// phase says what goes on where no agent is at work.
func (s *Screen) phase() string {
	open := s.state.Open
	since := clock(s.Now().Sub(open.Since))
	switch {
	case s.state.Paused:
		return "paused"
	case open.Number == 0:
		return "at work"
	case open.Phase == loop.CapturingDiff:
		return "looking at what has changed" + s.dot() + since
	case open.Phase == loop.Verifying:
		return "running the checks" + s.dot() + since
	}
	return "at work"
}

// acts are what an agent has done last, and what it does now.
func (s *Screen) acts(t progress.Step) (lines []string) {
	if t.Waiting != nil {
		return []string{"  " + s.spinner() + " " + s.waits(*t.Waiting)}
	}
	d := s.doing[t.Path]
	if d == nil || len(d.acts) == 0 {
		text := "no word from it yet"
		if d != nil && d.printed != "" {
			text = d.printed
		}
		return []string{"  " + s.spinner() + " " + s.faint(text)}
	}
	for _, a := range d.acts[:len(d.acts)-1] {
		lines = append(lines, s.faint(fmt.Sprintf("    %-5s %s", verb(a.kind), a.text)))
	}
	last := d.acts[len(d.acts)-1]
	return append(lines, fmt.Sprintf("  %s %s %s", s.spinner(), s.style(last.kind).Render(fmt.Sprintf("%-5s", verb(last.kind))), last.text))
}

// waits says for how long, and for what, a turn stands still.
func (s *Screen) waits(w loop.Wait) string {
	what := "waiting " + clock(w.Until.Sub(s.Now())) + " for the rate limit"
	if w.Cause == loop.EndOverloaded {
		what = "waiting " + clock(w.Until.Sub(s.Now())) + " for an overloaded service"
	}
	what = s.Style.NewStyle().Foreground(yellow).Render(what)
	if s.Keys {
		what += s.dot() + tryAgain
	}
	return what
}

const tryAgain = "w tries again now"

// now is what an agent does, in few words.
func (s *Screen) now(t progress.Step) string {
	d := s.doing[t.Path]
	switch {
	case t.Waiting != nil:
		return s.waits(*t.Waiting)
	case d == nil:
		return ""
	case len(d.acts) > 0:
		last := d.acts[len(d.acts)-1]
		return s.style(last.kind).Render(verb(last.kind)) + " " + last.text
	}
	return s.faint(d.printed)
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

// style tells what agents do apart at a glance.
func (s *Screen) style(k loop.NoticeKind) lipgloss.Style {
	style := s.Style.NewStyle()
	switch k {
	case loop.NoticeTool:
		style = style.Foreground(blue)
	case loop.NoticeCommand:
		style = style.Foreground(cyan)
	case loop.NoticeEdit:
		style = style.Foreground(green)
	case loop.NoticeProblem, loop.NoticeChange:
		style = style.Foreground(yellow)
	case loop.NoticeMessage, loop.NoticeOutput:
	}
	return style
}

// foot says where the run stands, and what the keys do.
func (s *Screen) foot() (lines []string) {
	if s.asked != nil {
		width, _ := s.Size()
		return []string{"  " + s.asked.line(s.ASCII, width-3)}
	}
	var parts []string
	if n := s.state.Open.Number; n > 0 {
		at := fmt.Sprintf("iteration %d", n)
		if most := s.state.Session.MaxIterations; most > 0 {
			at += fmt.Sprintf(" of %d", most)
		}
		parts = append(parts, at)
	}
	spent := s.state.Spent.Total()
	if k := spent.Tokens; k > 0 {
		parts = append(parts, render.Tokens(k)+" tokens")
	}
	if usd := spent.CostUSD; usd > 0 || s.Cost > 0 {
		cost := render.Dollars(usd)
		if s.Cost > 0 {
			cost += " of " + render.Dollars(s.Cost)
		}
		parts = append(parts, cost)
	}
	if c := s.state.Change; c != nil {
		parts = append(parts, render.Stat(*c))
	}
	parts = append(parts, clock(s.Now().Sub(s.state.Began))+" in all")
	lines = append(lines, s.faint("  "+strings.Join(parts, s.dot())))
	return append(lines, s.told()...)
}

// told says what the user has asked for, and what can be asked.
func (s *Screen) told() (lines []string) {
	if s.Asked != nil {
		stop, pause, words := s.Asked()
		var asked []string
		if stop {
			asked = append(asked, "stops after this iteration (s: no)")
		}
		switch {
		case pause && s.state.Paused:
			asked = append(asked, "paused (p: go on)")
		case pause:
			asked = append(asked, "pauses after this turn (p: no)")
		}
		if words > 0 {
			asked = append(asked, "your word goes to the actor's next turn")
		}
		if len(asked) > 0 {
			lines = append(lines, "  "+s.Style.NewStyle().Foreground(yellow).Render(strings.Join(asked, s.dot())))
		}
	}
	switch {
	case s.notice != "" && s.Now().Before(s.until):
		return append(lines, "  "+s.notice)
	case s.help:
		for _, line := range helpLines() {
			lines = append(lines, s.faint("  "+line))
		}
	case s.Keys:
		lines = append(lines, s.faint("  "+strings.Join([]string{"s stop", "p pause", "f feedback", "i interrupt", "d diff", "? help"}, s.dot())))
	}
	return lines
}

func (s *Screen) strong(text string) string { return s.Style.NewStyle().Bold(true).Render(text) }
func (s *Screen) faint(text string) string  { return s.Style.NewStyle().Faint(true).Render(text) }

func (s *Screen) dot() string {
	if s.ASCII {
		return " - "
	}
	return " · "
}

func (s *Screen) spinner() string {
	signs := []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}
	if s.ASCII {
		signs = []string{"|", "/", "-", "\\"}
	}
	return signs[s.spin%len(signs)]
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
