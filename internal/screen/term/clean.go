package term

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"codeloops/internal/wording"
)

// Clean returns text without anything that could steer a terminal: escape
// sequences go, carriage returns become line breaks (what they would
// overwrite stays readable), other control characters and those that turn the
// direction of writing go. Tabs and line breaks stay, and what is not UTF-8
// becomes U+FFFD.
func Clean(text string) string {
	if harmless(text) {
		return text
	}
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' {
			return -1
		}
		return r
	}, wording.Clean(text))
}

// Line is Clean for a place that has one line: breaks and tabs become spaces,
// and of several spaces one is left.
func Line(text string) string {
	text = Clean(text)
	var line strings.Builder
	line.Grow(len(text))
	for word := range strings.FieldsSeq(text) {
		if line.Len() > 0 {
			line.WriteByte(' ')
		}
		line.WriteString(word)
	}
	return line.String()
}

// ASCII replaces the signs with which codeloops sets off what it shows by some that are ASCII,
// for a terminal that has no others. None gets wider but that of a text that is cut.
func ASCII(text string) string { return asASCII.Replace(text) }

var asASCII = strings.NewReplacer("…", "...", "·", "-", "−", "-", "│", "|", "→", "->", "≥", ">=") //nolint:gochecknoglobals // a table

func harmless(text string) bool {
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c < utf8.RuneSelf {
			if c < ' ' && c != '\n' && c != '\t' || c == 0x7f {
				return false
			}
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && size == 1 || unfit(r) {
			return false
		}
		i += size - 1
	}
	return true
}

// unfit reports whether Clean takes a character out that is not ASCII.
func unfit(r rune) bool {
	if r < 0x600 { // most letters: nothing but control characters among them
		return r < 0xa0
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
}
