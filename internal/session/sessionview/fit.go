package sessionview

import (
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"codeloops/internal/screen/term"
)

// Most of what stands in a table is ASCII, of which a byte is a column: to ask
// for the width of every character takes a hundred times as long.

// wide returns how many columns a line takes that has no style.
func wide(line string) int {
	if n := plainColumns(line); n == len(line) {
		return n
	}
	return ansi.StringWidth(line)
}

// fit cuts a line that has no style to width columns.
func fit(line string, width int) string {
	switch {
	case len(line) <= width: // no character takes more columns than bytes
		return line
	case width > 0 && plainColumns(line[:width+1]) > width:
		return line[:width-1] + "…"
	}
	return ansi.Truncate(line, width, "…")
}

// plainColumns counts the printable ASCII characters that a line begins with.
func plainColumns(line string) int {
	for i := range len(line) {
		if line[i] < ' ' || line[i] > '~' {
			return i
		}
	}
	return len(line)
}

// lineFor is [term.Line] for a place of some columns: no more of a long text is
// looked at than what can be seen of it.
func lineFor(text string, width int) string {
	end := 2*width + utf8.UTFMax
	if end >= len(text) {
		return term.Line(text)
	}
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	line := term.Line(text[:end])
	sure := 0
	for i := range len(line) {
		if ' ' <= line[i] && line[i] <= '~' {
			sure++
		}
	}
	if sure <= width && wide(line) <= width { // nothing would tell that there is more
		return term.Line(text)
	}
	return line
}
