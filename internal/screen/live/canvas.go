package live

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"codeloops/internal/screen/notice"
	"codeloops/internal/screen/term"
)

// A canvas is a terminal with a title, permanent lines and, below them, lines that are redrawn.
type canvas struct {
	Terminal

	pump *pump
	now  func() time.Time

	drawn  []string // the redrawn lines, as they are on the terminal
	width  int      // the terminal's width at that time
	begun  bool     // the last line written has no end yet
	titled string   // the title that was set; "": none
	held   held
	wrote  time.Time // when something was last written
}

// held is what waits while somebody else uses the terminal.
type held struct {
	hidden int // how many need the terminal for themselves
	still  int // how many need redrawing to stop
	text   bytes.Buffer
	lost   int // bytes that were dropped
	late   []late
}

// late is what follows the text, for another writer.
type late struct {
	to   io.Writer
	text []byte
}

// write shows permanent text, or keeps it for later.
func (c *canvas) write(text []byte) {
	if c.held.hidden > 0 {
		kept := text[:min(len(text), mostHeld-c.held.text.Len())]
		c.held.text.Write(kept)
		c.held.lost += len(text) - len(kept)
		return
	}
	c.put(text)
}

// put writes text above the redrawn lines.
func (c *canvas) put(text []byte) {
	if len(text) == 0 {
		return
	}
	c.draw(nil)
	c.begun = text[len(text)-1] != '\n'
	c.print(text)
}

func (c *canvas) print(text []byte) {
	c.wrote = c.now()
	c.pump.put(text)
}

func (c *canvas) entitle(title string) {
	if c.held.hidden > 0 || title == c.titled || title == "" {
		return
	}
	if c.titled == "" {
		c.print([]byte(notice.Keep))
	}
	c.titled = title
	c.print([]byte(notice.Title(title)))
}

func (c *canvas) flush() {
	if c.held.hidden > 0 {
		return
	}
	text := bytes.Clone(c.held.text.Bytes())
	c.held.text.Reset()
	if c.held.lost > 0 {
		text = fmt.Appendf(text, "\n… %d bytes are not shown here: the log has them\n", c.held.lost)
		c.held.lost = 0
	}
	c.put(text)
}

// draw replaces the redrawn lines. It reports whether to try again, as the terminal was not ready.
func (c *canvas) draw(lines []string) (again bool) {
	if waiting, _, _, _ := c.pump.look(); waiting > 0 && lines != nil {
		return true
	}
	if c.held.hidden > 0 || lines != nil && (c.begun || c.held.still > 0) {
		return false
	}
	width, _ := c.Size()
	if width == c.width && slices.Equal(lines, c.drawn) {
		return false
	}
	var out strings.Builder
	if n := c.rows(width); n > 0 {
		out.WriteString("\r")
		if n > 1 {
			fmt.Fprintf(&out, "\x1b[%dA", n-1)
		}
		out.WriteString("\x1b[J")
	}
	out.WriteString(strings.Join(lines, "\n"))
	c.drawn, c.width = lines, width
	c.print([]byte(out.String()))
	return false
}

// fitted cuts lines to the terminal's width, in ASCII if need be.
func (t Terminal) fitted(lines []string, width int) []string {
	for i, line := range lines {
		if lines[i] = term.Fit(t.inASCII(line), width-1); t.ASCII {
			lines[i] = term.Narrow(lines[i])
		}
	}
	return lines
}

// rows returns how many rows of a terminal of this width the redrawn lines take.
func (c *canvas) rows(width int) (n int) {
	for _, line := range c.drawn {
		n++
		if w := ansi.StringWidth(line); c.Reflows && width > 0 && w > width {
			n += (w - 1) / width
		}
	}
	return n
}
