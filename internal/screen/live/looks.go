package live

import (
	"fmt"

	"github.com/charmbracelet/lipgloss"

	"codeloops/internal/loop"
	"codeloops/internal/screen/render"
	"codeloops/internal/screen/term"
)

// The colours are among the sixteen that every terminal has, in the user's own shades.
const (
	green  = "2"
	yellow = "3"
	blue   = "4"
	cyan   = "6"
)

func (t Terminal) strong(text string) string { return t.Style.NewStyle().Bold(true).Render(text) }
func (t Terminal) faint(text string) string  { return t.Style.NewStyle().Faint(true).Render(text) }

// Spinner returns a sign that turns as beat grows.
func Spinner(beat int, ascii bool) string {
	signs := []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}
	if ascii {
		signs = []string{"|", "/", "-", `\`}
	}
	return signs[beat%len(signs)]
}

// style returns the style for what an agent does.
func (t Terminal) style(k loop.NoticeKind) lipgloss.Style {
	style := t.Style.NewStyle()
	switch k {
	case loop.NoticeTool:
		style = style.Foreground(term.Colour(blue))
	case loop.NoticeCommand:
		style = style.Foreground(term.Colour(cyan))
	case loop.NoticeEdit:
		style = style.Foreground(term.Colour(green))
	case loop.NoticeProblem, loop.NoticeChange:
		style = style.Foreground(term.Colour(yellow))
	case loop.NoticeMessage, loop.NoticeOutput, loop.NoticeLook:
	}
	return style
}

func (t Terminal) verb(k loop.NoticeKind) string {
	return t.style(k).Render(fmt.Sprintf("%-5s", render.Verb(k)))
}

func (t Terminal) flow(parts []string, indent int) []string {
	width, _ := t.Size()
	return render.Flow(parts, render.Dot, indent, width-1)
}

// inASCII replaces signs that the terminal does not have.
func (t Terminal) inASCII(text string) string {
	if t.ASCII {
		return term.ASCII(text)
	}
	return text
}
