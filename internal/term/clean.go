package term

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"codeloops/internal/plain"
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
	}, plain.Text(text))
}

// Line is Clean for a place that has one line: breaks and tabs become spaces.
func Line(text string) string {
	text = Clean(text)
	var b strings.Builder
	b.Grow(len(text))
	word := -1 // where the word began that is read; -1 between words
	put := func(end int) {
		if word < 0 {
			return
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(text[word:end])
		word = -1
	}
	for i, r := range text {
		if r == ' ' || r < ' ' || r > '~' && unicode.IsSpace(r) {
			put(i)
		} else if word < 0 {
			word = i
		}
	}
	put(len(text))
	return b.String()
}

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

// unfit reports whether Clean takes a character out.
func unfit(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
}
