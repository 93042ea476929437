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

// Line is Clean for a place that has one line: breaks and tabs become spaces,
// and of several spaces one is left.
func Line(text string) string {
	text = Clean(text)
	line, n := make([]byte, len(text)), 0
	spaced := true // what stands in front of a space would be one, or nothing
	for at := 0; at < len(text); at++ {
		c := text[at]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(text[at:])
			if at += size - 1; !unicode.IsSpace(r) {
				n += copy(line[n:], text[at+1-size:at+1])
				spaced = false
				continue
			}
			c = ' '
		}
		// Without a branch for each end of a word, which nobody can foresee.
		space := c <= ' '
		if space {
			c = ' '
		}
		line[n] = c
		if !space || !spaced {
			n++
		}
		spaced = space
	}
	if spaced && n > 0 {
		n--
	}
	return string(line[:n])
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

// unfit reports whether Clean takes a character out that is not ASCII.
func unfit(r rune) bool {
	if r < 0x600 { // most letters: nothing but control characters among them
		return r < 0xa0
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
}
