package picker

import (
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"codeloops/internal/screen/term"
)

const (
	head         = 2  // lines above the list: the question and the filter
	foot         = 1  // the line with the keys
	leastPreview = 14 // screens with fewer lines have no preview
)

func (m *model) rows() int { return max(1, m.height-head-foot-m.previewLines()) }

// previewLines returns how many lines the preview has, with the rule above it; 0 for none.
func (m *model) previewLines() int {
	if m.height < leastPreview {
		return 0
	}
	return min(m.height*2/5, 16)
}

// Control sequences: xterm's alternate screen, and bracketed paste.
const (
	enter = "\x1b[?1049h" + term.PasteOn
	leave = term.PasteOff + "\x1b[?1049l"
)

func (m *model) draw() error {
	if width, height, err := term.Size(m.opts.In); err == nil { // reading a key will report the error
		m.width, m.height = width, height
	}
	// Each line is cleared before it is written: clearing after a line that fills its row would
	// erase its last character.
	page := "\x1b[?25l\x1b[H\x1b[2K" + strings.Join(m.lines(), "\r\n\x1b[2K") +
		fmt.Sprintf("\x1b[2;%dH\x1b[?25h", min(ansi.StringWidth("> "+m.filter), m.width-1)+1)
	_, err := io.WriteString(m.opts.Out, page)
	return err
}

func (m *model) lines() []string {
	faint := m.opts.Style.NewStyle().Faint(true)
	strong := m.opts.Style.NewStyle().Bold(true)
	lines := make([]string, 0, m.height)
	lines = append(lines,
		strong.Render(m.opts.Title)+faint.Render(fmt.Sprintf("  %d of %d", len(m.matches), m.list.Count)),
		"> "+m.filter)
	lines = append(lines, m.listed()...)
	if room := m.previewLines(); room > 0 {
		lines = append(lines, faint.Render(strings.Repeat("─", m.width)))
		lines = append(lines, m.preview(room-1)...)
	}
	lines = append(lines, faint.Render("↑↓ move  enter choose  esc leave  type to narrow the list"))
	for i, line := range lines {
		tail := "…"
		if m.opts.ASCII {
			line, tail = term.Narrow(line), "~"
		}
		lines[i] = ansi.Truncate(line, m.width, tail)
	}
	return lines[:min(len(lines), max(1, m.height))]
}

// listed returns the visible part of the list, padded with empty lines.
func (m *model) listed() []string {
	rows := m.rows()
	top := m.firstLine(rows)
	marked := m.opts.Style.NewStyle().Reverse(true)
	lines := make([]string, 0, rows)
	for at := top; at < min(top+rows, len(m.matches)); at++ {
		line := m.list.Line(m.matches[at], m.width-2)
		if at == m.at {
			lines = append(lines, marked.Render("> "+ansi.Strip(line)+strings.Repeat(" ", max(0, m.width-2-ansi.StringWidth(line)))))
			continue
		}
		lines = append(lines, "  "+line)
	}
	if len(m.matches) == 0 {
		lines = append(lines, "  nothing fits")
	}
	for len(lines) < rows {
		lines = append(lines, "")
	}
	return lines
}

// firstLine keeps the marked item near the middle where possible.
func (m *model) firstLine(rows int) int {
	return max(0, min(m.at-rows/2, len(m.matches)-rows))
}

func (m *model) preview(room int) []string {
	var lines []string
	if i := m.marked(); i >= 0 && m.list.Preview != nil {
		lines = m.list.Preview(i, m.width)
	}
	for len(lines) < room {
		lines = append(lines, "")
	}
	return lines[:room]
}
