package live

import (
	"github.com/charmbracelet/lipgloss"

	"codeloops/internal/loop"
)

// The colours are among the sixteen that every terminal has, in the user's own shades.
const (
	green  = lipgloss.Color("2")
	yellow = lipgloss.Color("3")
	blue   = lipgloss.Color("4")
	cyan   = lipgloss.Color("6")
)

func (b *board) strong(text string) string { return b.Style.NewStyle().Bold(true).Render(text) }
func (b *board) faint(text string) string  { return b.Style.NewStyle().Faint(true).Render(text) }

// Spinner returns a sign that turns as beat grows.
func Spinner(beat int, ascii bool) string {
	signs := []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}
	if ascii {
		signs = []string{"|", "/", "-", `\`}
	}
	return signs[beat%len(signs)]
}

// style returns the style for what an agent does.
func (b *board) style(k loop.NoticeKind) lipgloss.Style {
	style := b.Style.NewStyle()
	switch k {
	case loop.NoticeTool:
		style = style.Foreground(blue)
	case loop.NoticeCommand:
		style = style.Foreground(cyan)
	case loop.NoticeEdit:
		style = style.Foreground(green)
	case loop.NoticeProblem, loop.NoticeChange:
		style = style.Foreground(yellow)
	case loop.NoticeMessage, loop.NoticeOutput, loop.NoticeLook:
	}
	return style
}
