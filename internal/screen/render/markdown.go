package render

import (
	"regexp"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"
)

// Prose lays a text of an agent's out, line by line, for a width: as it is, with the Markdown
// that agents write in shown as a terminal can. Nothing of it is left out.
func Prose(text string, strong, faint lipgloss.Style, width int) (lines []string) {
	code := false
	for _, line := range cleanLines(text) {
		line = strings.TrimRight(strings.ReplaceAll(line, "\t", "    "), " ")
		if strings.HasPrefix(strings.TrimLeft(line, " "), "```") {
			code = !code
			lines = append(lines, faint.Render(line))
			continue
		}
		if code {
			lines = append(lines, wrapped(line, len(line)-len(strings.TrimLeft(line, " ")), width)...)
			continue
		}
		hang := len(hanging.FindString(line))
		if heading := strings.TrimLeft(line, "#"); heading != line && strings.HasPrefix(heading, " ") {
			line = strong.Render(heading[1:])
		} else {
			line = bold.ReplaceAllStringFunc(line, func(s string) string { return strong.Render(s[2 : len(s)-2]) })
		}
		lines = append(lines, wrapped(line, hang, width)...)
	}
	return lines
}

var (
	hanging = regexp.MustCompile(`^ *(?:[-*+] +|\d{1,3}[.)] +|> )?`) // what the further lines of an item stand under
	bold    = regexp.MustCompile(`\*\*[^*\s](?:[^*]*[^*\s])?\*\*`)
)

// wrapped breaks a line at its blanks, where it can; the further lines stand as far to the
// right as hang says.
func wrapped(line string, hang, width int) []string {
	if width >= Whole || ansi.StringWidth(line) <= width {
		return []string{line}
	}
	width = max(width, 20)
	if hang > width/2 {
		hang = 0
	}
	first := ansi.Wrap(line, width, "")
	head, rest, more := strings.Cut(first, "\n")
	lines := []string{head}
	if !more {
		return lines
	}
	for next := range strings.SplitSeq(ansi.Wrap(strings.ReplaceAll(rest, "\n", " "), width-hang, ""), "\n") {
		lines = append(lines, strings.Repeat(" ", hang)+next)
	}
	return lines
}
