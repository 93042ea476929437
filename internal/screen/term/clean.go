package term

import (
	"strings"
	"unicode"

	"codeloops/internal/wording"
)

// Clean returns text without anything that could steer a terminal: it removes escape
// sequences, control characters other than tabs and line breaks, and characters that
// change the direction of writing. A carriage return becomes a line break, so that what
// it would overwrite stays readable. Bytes that are not UTF-8 become U+FFFD.
func Clean(text string) string {
	if harmless(text) {
		return text
	}
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' {
			return -1
		}
		return r
	}, wording.Clean(text))
}

// harmless reports whether Clean would change nothing: a list of sessions has megabytes of prompts, a log more, and almost
// every text is harmless. Characters from U+0600 on may be marks of direction, or replace bytes that are not UTF-8; Clean
// itself looks at them.
func harmless(text string) bool {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c >= ' ' && c < 0x7f, c == '\n', c == '\t':
		case c >= 0xc2 && c < 0xd8 && i+1 < len(text) && text[i+1]>>6 == 2 && (c > 0xc2 || text[i+1] >= 0xa0): // U+00A0 to U+05FF
			i++
		default:
			return false
		}
	}
	return true
}

// Line is Clean for text that has to fit on one line: each run of white space becomes one
// space. To collect the words in a slice first makes a list of 10,000 sessions 60 ms slower.
func Line(text string) string {
	var line strings.Builder
	line.Grow(len(text))
	for word := range strings.FieldsSeq(Clean(text)) {
		if line.Len() > 0 {
			line.WriteByte(' ')
		}
		line.WriteString(word)
	}
	return line.String()
}

// ASCII replaces the non-ASCII signs of codeloops' own output, for a terminal that cannot
// show them. Some get wider.
func ASCII(text string) string { return asASCII.Replace(text) }

// Narrow is ASCII for lines that were cut to a width: an ellipsis stays as wide as it was.
func Narrow(text string) string { return ASCII(strings.ReplaceAll(text, "…", "~")) }

var asASCII = strings.NewReplacer( //nolint:gochecknoglobals // a table
	"✓", "+", "…", "...", "·", "-", "−", "-", "│", "|", "─", "-", "→", "->", "↑↓", "up/down", "≥", ">=",
)
