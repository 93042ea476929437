package excerpt

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// escape opens a terminal control sequence (ECMA-48).
const escape = '\x1b'

// Plain returns what a process printed as text for a prompt or a parser:
// terminal control sequences and control characters other than tab and line
// feed are gone, so that a CRLF is a line feed and a lone carriage return joins
// what it stands between; what is not UTF-8 reads U+FFFD.
//
// A control sequence never reaches over a line break: one that is torn or
// forged costs its own line, not those after it.
func Plain(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if !strings.ContainsFunc(text, steers) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	for i := 0; i < len(text); {
		if text[i] == escape {
			i += sequence(text[i:])
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		if !steers(r) {
			b.WriteString(text[i : i+n])
		}
		i += n
	}
	return b.String()
}

func steers(r rune) bool { return r != '\n' && r != '\t' && unicode.IsControl(r) }

// sequence returns the length of the control sequence that text begins with,
// after ECMA-48, 5.4 and 5.6.
func sequence(text string) int {
	if len(text) < 2 {
		return len(text)
	}
	switch c := text[1]; {
	case c == '[':
		i := span(text, 2, '0', '?')
		i = span(text, i, ' ', '/')
		return span1(text, i, '@', '~')
	case strings.IndexByte("]PX^_", c) >= 0:
		return controlString(text)
	case c >= ' ' && c <= '/':
		return span1(text, span(text, 1, ' ', '/'), '0', '~')
	case c >= '0' && c <= '~':
		return 2
	}
	return 1
}

// span skips the bytes from lo to hi that begin at i.
func span(text string, i int, lo, hi byte) int {
	for i < len(text) && text[i] >= lo && text[i] <= hi {
		i++
	}
	return i
}

// span1 skips at most one such byte.
func span1(text string, i int, lo, hi byte) int {
	if i < len(text) && text[i] >= lo && text[i] <= hi {
		return i + 1
	}
	return i
}

// controlString returns the length of a string sequence such as a window
// title: to BEL or ST, or else to the next escape or the end of the line.
func controlString(text string) int {
	for i := 2; i < len(text); i++ {
		switch text[i] {
		case '\a':
			return i + 1
		case '\n':
			return i
		case escape:
			if strings.HasPrefix(text[i:], "\x1b\\") {
				return i + 2
			}
			return i
		}
	}
	return len(text)
}
