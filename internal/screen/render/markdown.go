package render

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"codeloops/internal/screen/term"
	"codeloops/internal/wording"
)

// prose lays out an agent's text for a width, with its Markdown shown as a terminal can. Nothing is
// left out.
func (s styles) prose(text string, width int) (lines []string) {
	fence := "" // of the code block that the line is in
	for _, line := range cleanLines(text) {
		line = strings.TrimRight(strings.ReplaceAll(line, "\t", "    "), " ")
		blanks := len(line) - len(strings.TrimLeft(line, " "))
		mark := fencing().FindString(line[blanks:])
		switch {
		case fence == "" && mark != "":
			fence = mark[:3]
			lines = append(lines, s.faint.Render(line))
		case fence != "" && strings.HasPrefix(mark, fence):
			fence = ""
			lines = append(lines, s.faint.Render(line))
		case fence != "":
			lines = append(lines, each(wrapped(line, blanks, width), func(line string) string { return s.code.Render(line) })...)
		default:
			lines = append(lines, s.paragraph(line, width)...)
		}
	}
	return lines
}

var (
	fencing = wording.Pattern("^(?:`{3,}|~{3,})")
	quoting = wording.Pattern(`^ *(?:> ?)+`)
	hanging = wording.Pattern(`^ *(?:[-*+] +(?:\[[ xX]\] +)?|\d{1,3}[.)] +)?`) // what the further lines of an item stand under
	heading = wording.Pattern(`^#{1,6} +(.*?)(?: +#+)?$`)
	coding  = wording.Pattern("`[^`]+`")
	linking = wording.Pattern(`!?\[([^\][]*)\]\(<?([^()<>\s]+)>?(?: "[^"]*")?\)`)
	bold    = wording.Pattern(`\*\*[^*\s](?:[^*]*[^*\s])?\*\*`)
)

// paragraph lays out a line outside of code blocks.
func (s styles) paragraph(line string, width int) []string {
	if quote := quoting().FindString(line); quote != "" {
		room := width
		if width < Whole {
			room = max(20, width-len(quote))
		}
		return each(s.paragraph(line[len(quote):], room), func(line string) string { return s.faint.Render(quote) + line })
	}
	if title := heading().FindStringSubmatch(line); title != nil {
		return each(wrapped(bold().ReplaceAllStringFunc(title[1], unmarked), 0, width), func(line string) string { return s.strong.Render(line) })
	}
	return wrapped(s.inline(line), len(hanging().FindString(line)), width)
}

// inline formats the markup within a line, except in code.
func (s styles) inline(line string) string {
	var b strings.Builder
	at := 0
	for _, code := range coding().FindAllStringIndex(line, -1) {
		b.WriteString(s.marked(line[at:code[0]]))
		b.WriteString(s.code.Render(line[code[0]:code[1]]))
		at = code[1]
	}
	return b.String() + s.marked(line[at:])
}

// marked formats links and bold text.
func (s styles) marked(text string) string {
	text = linking().ReplaceAllStringFunc(text, func(link string) string {
		parts := linking().FindStringSubmatch(link)
		if parts[1] == "" || parts[1] == parts[2] {
			return parts[2]
		}
		return parts[1] + " (" + parts[2] + ")"
	})
	return bold().ReplaceAllStringFunc(text, func(b string) string { return s.strong.Render(unmarked(b)) })
}

func unmarked(bold string) string { return bold[2 : len(bold)-2] }

func each(lines []string, do func(string) string) []string {
	all := slices.Clone(lines)
	for i, line := range all {
		all[i] = do(line)
	}
	return all
}

// wrapped breaks a line at its spaces where possible, and indents all but the first by hang.
func wrapped(line string, hang, width int) []string {
	if width >= Whole || ansi.StringWidth(line) <= width {
		return []string{line}
	}
	width = max(width, 20)
	if hang > width/2 {
		hang = 0
	}
	first := term.Wrap(line, width)
	head, rest, more := strings.Cut(first, "\n")
	lines := []string{head}
	if !more {
		return lines
	}
	for next := range strings.SplitSeq(term.Wrap(strings.ReplaceAll(rest, "\n", " "), width-hang), "\n") {
		lines = append(lines, strings.Repeat(" ", hang)+next)
	}
	return closed(lines)
}

var styling = wording.Pattern(`\x1b\[[0-9;]*m`)

// closed ends a style at the end of each line and begins it again on the next: something else may
// be drawn between them.
func closed(lines []string) []string {
	const reset = "\x1b[0m"
	open := ""
	for i, line := range lines {
		line = open + line
		if open = ""; strings.Contains(line, "\x1b") {
			if all := styling().FindAllString(line, -1); len(all) > 0 && all[len(all)-1] != reset {
				open = all[len(all)-1]
				line += reset
			}
		}
		lines[i] = line
	}
	return lines
}
