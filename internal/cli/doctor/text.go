package doctor

import (
	"cmp"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"

	"codeloops/internal/run/crew"
	"codeloops/internal/screen/term"
)

const (
	red   = "1"
	green = "2"
)

// A Sheet lays tables out for a person.
type Sheet struct {
	Width int // of the terminal; 0: no limit
	Style *lipgloss.Renderer
}

// Findings lays out findings with their hints, and a conclusion.
func (s Sheet) Findings(findings []Finding) string {
	findings = Merged(findings)
	good, bad := s.Style.NewStyle().Foreground(term.Colour(green)), s.Style.NewStyle().Foreground(term.Colour(red))
	var b strings.Builder
	wide, lacking := 0, false
	for _, f := range findings {
		wide = max(wide, ansi.StringWidth(f.What))
	}
	for _, f := range findings {
		mark := good.Render("ok  ")
		switch {
		case !f.OK && f.Optional:
			mark = bad.Render("no  ")
		case !f.OK:
			mark = bad.Render("FAIL")
			lacking = true
		}
		s.row(&b, mark+"  "+padded(f.What, wide+1), term.Line(f.Detail))
		if f.Hint != "" {
			s.row(&b, "      "+padded("", wide+1), "hint: "+term.Line(f.Hint))
		}
	}
	if lacking {
		return b.String() + "\nno run could start here: fix what is marked FAIL; `codeloops demo` works without an agent\n"
	}
	b.WriteString("\na run could start here: codeloops \"what to do\"\n")
	return b.String()
}

// Merged joins neighbouring findings that report the same problem, such as an agent of both roles
// that is not installed.
func Merged(findings []Finding) (merged []Finding) {
	for _, f := range findings {
		if last := len(merged) - 1; last >= 0 && !f.OK {
			like := merged[last]
			if like.What = f.What; like == f {
				merged[last].What += ", " + f.What
				continue
			}
		}
		merged = append(merged, f)
	}
	return merged
}

// Agents lays out the installed agents, the others with how to install them, and the command
// lines of all.
func (s Sheet) Agents(rows []crew.Row) string {
	strong, faint := s.Style.NewStyle().Bold(true), s.Style.NewStyle().Faint(true)
	var here, away, calls strings.Builder
	wide, login := 0, 0
	for _, r := range rows {
		wide, login = max(wide, ansi.StringWidth(r.Name)), max(login, ansi.StringWidth(r.Login))
	}
	for _, r := range rows {
		name := "  " + padded(r.Name, wide+1)
		blank := "  " + padded("", wide+1)
		s.row(&calls, name+" actor ", term.Line(strings.Join(r.Actor, " ")))
		s.row(&calls, blank+" critic", term.Line(strings.Join(r.Critic, " ")))
		if r.Path == "" {
			s.row(&away, name, term.Line(cmp.Or(r.Next, r.Problem)))
			continue
		}
		tested := "described, not tested"
		if r.Tested != "" {
			tested = "tested with " + r.Tested
		}
		s.row(&here, name, padded(r.Login, login+1)+" "+faint.Render(term.Line(r.Path)+" ("+tested+")"))
		if r.Next != "" {
			s.row(&here, blank, "hint: "+term.Line(r.Next))
		}
	}
	if here.Len() == 0 {
		here.WriteString("  none: install one of those below, or try `codeloops demo`, which needs none\n")
	}
	text := strong.Render("Installed") + "\n" + here.String()
	if away.Len() > 0 {
		text += "\n" + strong.Render("Not installed") + "\n" + away.String()
	}
	return text + "\n" + strong.Render("Command lines") + "\n" + calls.String()
}

// row writes a name and a text, which on a terminal is wrapped in its column.
func (s Sheet) row(b *strings.Builder, name, text string) {
	at := ansi.StringWidth(name) + 1
	if s.Width > at+20 {
		text = strings.ReplaceAll(term.Wrap(text, s.Width-at), "\n", "\n"+strings.Repeat(" ", at))
	}
	b.WriteString(name + " " + text + "\n")
}

func padded(text string, width int) string {
	text = term.Line(text)
	return text + strings.Repeat(" ", max(0, width-ansi.StringWidth(text)))
}
