package sessionview

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"

	"codeloops/internal/loop"
	"codeloops/internal/screen/render"
	"codeloops/internal/screen/term"
	"codeloops/internal/screen/words"
	"codeloops/internal/session"
)

// A Screen is the terminal on which something is shown.
type Screen struct {
	Width int // columns
	Style *lipgloss.Renderer
	ASCII bool // it cannot show other characters
}

// Wide returns the same screen with another width.
func (s Screen) Wide(columns int) Screen {
	s.Width = columns
	return s
}

func (s Screen) strong(text string) string { return s.Style.NewStyle().Bold(true).Render(text) }

func (s Screen) faint(text string) string { return s.Style.NewStyle().Faint(true).Render(text) }

func (s Screen) fits(line string) string { return s.own(render.Cut(line, s.Width)) }

// own writes codeloops' own signs, in lines of the right width, as the terminal can show them.
func (s Screen) own(text string) string {
	if s.ASCII {
		return term.Narrow(text)
	}
	return text
}

func (s Screen) sign() string {
	if s.ASCII {
		return ">"
	}
	return "▶"
}

// outcome returns an outcome in words, in its colour.
func (s Screen) outcome(name string) string { return s.inColourOf(name, words.Outcome(name)) }

func (s Screen) inColourOf(outcome, text string) string {
	colour := cmp.Or(map[session.Status]string{
		session.Status(loop.Success): "2", session.Status(loop.Failed): "1", session.Crashed: "1", session.Running: "4",
	}[session.Status(outcome)], "3") // yellow: neither done nor broken
	return s.Style.NewStyle().Foreground(term.Colour(colour)).Render(text)
}

// A Page is where a session is shown to a person, line by line.
type Page struct {
	Out    io.Writer
	Screen Screen
	Full   bool // whole texts, and diffs

	err error // the first one; nothing is written after it
}

func (p *Page) sayf(format string, args ...any) {
	line := fmt.Sprintf(format+"\n", args...)
	if p.Screen.ASCII && !p.Full { // which quotes texts as they are
		line = term.ASCII(line)
	}
	if p.err == nil {
		_, p.err = io.WriteString(p.Out, line)
	}
}

func (p *Page) rowf(name, format string, args ...any) {
	p.sayf("  %-10s %s", name, fmt.Sprintf(format, args...))
}

// block writes the first lines of a text, or all of it, under a heading.
func (p *Page) block(heading, text string, most int) {
	p.lines(heading, text, render.Excerpt(text, most, p.Screen.Width-6))
}

// prose is block for what somebody wrote to be read: lines are wrapped, not cut.
func (p *Page) prose(heading, text string, most int) {
	p.lines(heading, text, render.Paragraphs(text, most, p.Screen.Width-6))
}

// ending writes the last lines of a text, or all of it.
func (p *Page) ending(text string, most int) {
	p.lines("", text, render.Tail(text, most, p.Screen.Width-6))
}

func (p *Page) lines(heading, text string, lines []string) {
	if p.Full {
		lines = strings.Split(strings.TrimRight(term.Clean(text), "\n"), "\n")
	}
	if strings.TrimSpace(text) == "" {
		return
	}
	if heading != "" {
		p.sayf("  %s", p.Screen.faint(heading))
	}
	for _, line := range lines {
		p.sayf("%s", strings.TrimRight("    "+line, " "))
	}
}

func (p *Page) omitted(o loop.Output) {
	if o.Omitted > 0 {
		p.sayf("    %s", p.Screen.faint(fmt.Sprintf("%d of %d bytes are not in the log; all of it: %s", o.Omitted, o.Total, term.Line(o.File))))
	}
}

func (p *Page) files(c loop.Change) {
	const most = 12
	for i, f := range c.Files {
		if !p.Full && i == most && len(c.Files) > most+1 {
			p.sayf("    … %d more files", len(c.Files)-most)
			break
		}
		size := fmt.Sprintf("+%d -%d", f.Insertions, f.Deletions)
		if f.Binary {
			size = fmt.Sprintf("%d -> %d bytes", f.OldSize, f.NewSize)
		}
		facts := append([]string{size}, f.Nature()...)
		p.sayf("    %s %s  %s", render.Letter(f.Status), render.Quoted(f.Path), p.Screen.faint(strings.Join(facts, ", ")))
	}
	if !p.Full {
		return
	}
	p.sayf("")
	if p.err == nil {
		p.err = Patch(p.Out, c, &p.Screen)
	}
}

// twig writes a line of a tree, as far as the screen goes.
func (p *Page) twig(before, text string, style func(string) string) {
	const least = 8 // columns for the text, however deep it stands
	room := max(p.Screen.Width-ansi.StringWidth(before), least)
	p.sayf("%s%s", before, style(p.Screen.own(term.Fit(text, room))))
}
