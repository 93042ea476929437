// Package term knows the terminal that a command talks to: its streams, its
// width, its colours.
package term

import (
	"cmp"
	"io"
	"os"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"
	"golang.org/x/term"
)

// Streams are the three streams of a command with what is known of them. They
// are made once, by main, and handed down; nothing else asks the environment.
type Streams struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer

	InTTY  bool
	OutTTY bool
	ErrTTY bool
	// Plain forbids colour and animation whatever the streams are.
	Plain bool
	// ASCII: the terminal, or the user's locale, has no other characters.
	ASCII bool
	// Reflows: the terminal wraps its lines anew when it gets another width. All but xterm do.
	Reflows bool
	// Columns is a width to use instead of the terminal's; 0: ask it.
	Columns int
	// Jobs stops the process for whoever holds the terminal.
	Jobs Jobs
}

// New describes the streams of a process. getenv looks up a variable of its
// environment: NO_COLOR, TERM=dumb and CI make the streams plain.
func New(in io.Reader, out, err io.Writer, getenv func(string) string) *Streams {
	return &Streams{
		In: in, Out: out, Err: err,
		InTTY:   isTerminal(in),
		OutTTY:  isTerminal(out),
		ErrTTY:  isTerminal(err),
		Plain:   getenv("NO_COLOR") != "" || getenv("TERM") == "dumb" || getenv("CI") != "",
		Reflows: getenv("XTERM_VERSION") == "",
		ASCII:   getenv("TERM") == "dumb" || !allCharacters(cmp.Or(getenv("LC_ALL"), getenv("LC_CTYPE"), getenv("LANG"))),
	}
}

// allCharacters reports whether a locale has all characters. What is not set is no reason to doubt it.
func allCharacters(locale string) bool {
	l := strings.ToLower(locale)
	return l == "" || strings.Contains(l, "utf-8") || strings.Contains(l, "utf8")
}

func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// defaultWidth is what a stream that is no terminal is laid out for.
const defaultWidth = 80

// Size returns the columns and lines of a terminal.
func Size(terminal *os.File) (columns, lines int, err error) {
	return term.GetSize(int(terminal.Fd()))
}

// defaultHeight is the lines of a terminal that does not tell them.
const defaultHeight = 24

// Size returns the columns and the lines of the terminal on standard error.
func (s *Streams) Size() (width, height int) {
	_, lines := size(s.Err, s.ErrTTY)
	return s.Width(), cmp.Or(lines, defaultHeight)
}

// Width returns the columns that are there for text on standard error.
func (s *Streams) Width() int { return s.width(s.Err, s.ErrTTY, defaultWidth) }

// OutWidth returns the columns that are there for text on standard output.
func (s *Streams) OutWidth() int { return s.width(s.Out, s.OutTTY, s.Width()) }

// CanAsk reports whether somebody is there who can be asked.
func (s *Streams) CanAsk() bool { return s.InTTY && s.ErrTTY }

// ErrRoom returns the columns of standard error, 0 where it is no terminal, so that no line is cut.
func (s *Streams) ErrRoom() int { return room(s.ErrTTY, s.Width) }

// OutRoom is ErrRoom for standard output.
func (s *Streams) OutRoom() int { return room(s.OutTTY, s.OutWidth) }

func room(isTTY bool, width func() int) int {
	if !isTTY {
		return 0
	}
	return width()
}

// width returns the columns of a stream, or so many where it tells none.
func (s *Streams) width(of io.Writer, isTTY bool, otherwise int) int {
	w, _ := size(of, isTTY)
	return cmp.Or(s.Columns, w, otherwise)
}

// size returns the columns and lines of a stream, 0 where it tells none.
func size(of io.Writer, isTTY bool) (columns, lines int) {
	if !isTTY {
		return 0, 0
	}
	if w, h, err := term.GetSize(int(Fd(of))); err == nil {
		return max(w, 0), max(h, 0)
	}
	return 0, 0
}

// Fd returns the descriptor of a stream, or of the one that it writes to. A stream without
// one has one that does not exist.
func Fd(stream any) uintptr {
	if f, ok := stream.(interface{ Fd() uintptr }); ok {
		return f.Fd()
	}
	return ^uintptr(0)
}

// Fit cuts a line to width columns. A line that is to be written over must not be
// longer: what stands in the rows above its last one would stay.
func Fit(line string, width int) string { return ansi.Truncate(line, max(width, 1), "…") }

// ErrRenderer returns the renderer for styles on standard error: without
// colour unless standard error is a terminal that may have it.
func (s *Streams) ErrRenderer() *lipgloss.Renderer { return renderer(s.Err, s.ErrTTY && !s.Plain) }

// OutRenderer is ErrRenderer for standard output.
func (s *Streams) OutRenderer() *lipgloss.Renderer { return renderer(s.Out, s.OutTTY && !s.Plain) }

func renderer(w io.Writer, colour bool) *lipgloss.Renderer {
	if colour {
		// The dark-background query writes to the terminal and waits for its
		// answer: the sixteen colours that are used need none.
		r := lipgloss.NewRenderer(w, termenv.WithProfile(termenv.ANSI))
		r.SetHasDarkBackground(true)
		r.SetColorProfile(termenv.ANSI) // a screen in front of the terminal is none to those who ask it
		return r
	}
	r := lipgloss.NewRenderer(w, termenv.WithProfile(termenv.Ascii))
	r.SetColorProfile(termenv.Ascii) // whatever the environment would force
	return r
}
