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
	text = strings.TrimSpace(Clean(text))
	at := gap(text)
	if at == len(text) {
		return text
	}
	var line strings.Builder
	line.Grow(len(text))
	for ; at < len(text); at = gap(text) {
		line.WriteString(text[:at])
		line.WriteByte(' ')
		text = strings.TrimLeftFunc(text[at:], unicode.IsSpace)
	}
	line.WriteString(text)
	return line.String()
}

// gap returns where the first white space of a text begins that is no single blank
// between words, the length of the text where there is none. The text ends in no white
// space.
func gap(text string) int {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c > ' ' && c < utf8.RuneSelf:
		case c == ' ' && text[i+1] > ' ' && text[i+1] < utf8.RuneSelf:
			i++
		case c <= ' ':
			return i
		default:
			r, size := utf8.DecodeRuneInString(text[i:])
			if unicode.IsSpace(r) {
				return i
			}
			i += size - 1
		}
	}
	return len(text)
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
