// Package sessionview shows sessions.
//
// Output for a terminal is cleaned of control sequences and fits its width; output for a program is
// complete. Nothing here reads a clock or asks the system.
package sessionview

import (
	"cmp"

	"github.com/charmbracelet/lipgloss"

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

// Strong stresses a text.
func (s Screen) Strong(text string) string { return s.Style.NewStyle().Bold(true).Render(text) }

// Faint is for what is of less interest.
func (s Screen) Faint(text string) string { return s.Style.NewStyle().Faint(true).Render(text) }

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

// Outcome returns an outcome in words, in its colour.
func (s Screen) Outcome(name string) string { return s.inColourOf(name, words.Outcome(name)) }

func (s Screen) inColourOf(outcome, text string) string {
	colour := cmp.Or(map[session.Status]string{
		session.Status(loop.Success): "2", session.Status(loop.Failed): "1", session.Crashed: "1", session.Running: "4",
	}[session.Status(outcome)], "3") // yellow: neither done nor broken
	return s.Style.NewStyle().Foreground(term.Colour(colour)).Render(text)
}
