// Package term describes the terminal of a command: its streams, width and colours.
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

// Streams are the three streams of a command and what is known of them. main makes them once and
// hands them down; nothing else asks the environment.
type Streams struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer

	InTTY  bool
	OutTTY bool
	ErrTTY bool
	// Plain forbids styles and animation.
	Plain bool
	// NoColour forbids colours, and nothing else.
	NoColour bool
	// ASCII: the terminal or the user's locale has no other characters.
	ASCII bool
	// Reflows: the terminal wraps its lines again when its width changes. All but xterm do.
	Reflows bool
	// Columns replaces the terminal's width; 0: ask the terminal.
	Columns int
	// Jobs stops the process for whoever holds the terminal.
	Jobs Jobs
}

// New describes the streams of a process. getenv looks up an environment variable: TERM=dumb
// and CI make the streams plain, NO_COLOR takes their colours.
func New(in io.Reader, out, err io.Writer, getenv func(string) string) *Streams {
	return &Streams{
		In: in, Out: out, Err: err,
		InTTY:    isTerminal(in),
		OutTTY:   isTerminal(out),
		ErrTTY:   isTerminal(err),
		Plain:    getenv("TERM") == "dumb" || getenv("CI") != "",
		NoColour: getenv("NO_COLOR") != "",
		Reflows:  getenv("XTERM_VERSION") == "",
		ASCII:    getenv("TERM") == "dumb" || !isUTF8(cmp.Or(getenv("LC_ALL"), getenv("LC_CTYPE"), getenv("LANG"))),
	}
}

// isUTF8 reports whether a locale has all characters. An unset locale counts as one.
func isUTF8(locale string) bool {
	l := strings.ToLower(locale)
	return l == "" || strings.Contains(l, "utf-8") || strings.Contains(l, "utf8")
}

func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// defaultWidth is used for streams that are no terminal.
const defaultWidth = 80

// Size returns the columns and lines of a terminal.
func Size(terminal *os.File) (columns, lines int, err error) {
	return term.GetSize(int(terminal.Fd()))
}

// defaultHeight is used if the terminal does not tell its height.
const defaultHeight = 24

// Size returns the columns and lines of the terminal on standard error.
func (s *Streams) Size() (width, height int) {
	_, lines := size(s.Err, s.ErrTTY)
	return s.Width(), cmp.Or(lines, defaultHeight)
}

// Width returns the columns for text on standard error.
func (s *Streams) Width() int { return s.width(s.Err, s.ErrTTY, defaultWidth) }

// OutWidth returns the columns for text on standard output.
func (s *Streams) OutWidth() int { return s.width(s.Out, s.OutTTY, s.Width()) }

// CanAsk reports whether there is somebody to ask.
func (s *Streams) CanAsk() bool { return s.InTTY && s.ErrTTY }

// ErrRoom returns the columns of standard error; 0, which cuts no line, if it is no terminal.
func (s *Streams) ErrRoom() int { return room(s.ErrTTY, s.Width) }

// OutRoom is ErrRoom for standard output.
func (s *Streams) OutRoom() int { return room(s.OutTTY, s.OutWidth) }

func room(isTTY bool, width func() int) int {
	if !isTTY {
		return 0
	}
	return width()
}

// width returns the columns of a stream, or otherwise if it tells none.
func (s *Streams) width(of io.Writer, isTTY bool, otherwise int) int {
	w, _ := size(of, isTTY)
	return cmp.Or(s.Columns, w, otherwise)
}

// size returns the columns and lines of a stream, 0 if it tells none.
func size(of io.Writer, isTTY bool) (columns, lines int) {
	if !isTTY {
		return 0, 0
	}
	if w, h, err := term.GetSize(int(Fd(of))); err == nil {
		return max(w, 0), max(h, 0)
	}
	return 0, 0
}

// Fd returns the descriptor of a stream or of the stream below it, and an invalid one if there is
// none.
func Fd(stream any) uintptr {
	if f, ok := stream.(interface{ Fd() uintptr }); ok {
		return f.Fd()
	}
	return ^uintptr(0)
}

// Fit cuts a line to width columns. A line that will be overwritten must not be longer: only its
// last row would be overwritten.
func Fit(line string, width int) string { return ansi.Truncate(line, max(width, 1), "…") }

// ErrRenderer returns the styles of standard error: only on a terminal that may have them.
func (s *Streams) ErrRenderer() *lipgloss.Renderer { return s.renderer(s.Err, s.ErrTTY) }

// OutRenderer is ErrRenderer for standard output.
func (s *Streams) OutRenderer() *lipgloss.Renderer { return s.renderer(s.Out, s.OutTTY) }

// Colour returns one of the sixteen colours that every terminal has, by its number. A renderer whose
// streams have no colours shows none.
func Colour(number string) lipgloss.TerminalColor { return lipgloss.AdaptiveColor{Dark: number} }

func (s *Streams) renderer(w io.Writer, isTTY bool) *lipgloss.Renderer {
	profile := termenv.Ascii
	if isTTY && !s.Plain {
		profile = termenv.ANSI
	}
	r := lipgloss.NewRenderer(w, termenv.WithProfile(profile))
	r.SetColorProfile(profile) // whatever the environment says, and a screen in front of the terminal
	// Asking for the dark background would write to the terminal and wait for an answer, and the
	// sixteen colours do not need it. A [Colour] has no variant for a light one.
	r.SetHasDarkBackground(!s.NoColour)
	return r
}
