package wording

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	escape = '\x1b'
	// firstC1 and lastC1 delimit the control characters that stand for an escape and a
	// letter.
	firstC1, lastC1 = 0x80, 0x9f
)

// Clean removes control sequences from the output of a program, including those of one
// character (C1), and control characters other than tab and line feed. So CRLF becomes a line
// feed, and a lone carriage return disappears. Invalid UTF-8 becomes U+FFFD.
//
// A control sequence ends at a line break at the latest, so that a truncated or forged one
// damages only its own line.
func Clean(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if !strings.ContainsFunc(text, steers) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		i += n
		switch {
		case r == escape:
			if i < len(text) {
				i += introduced(text[i], text[i+1:])
			}
		case r >= firstC1 && r <= lastC1:
			i += max(0, introduced(byte(r-0x40), text[i:])-1)
		case !steers(r):
			b.WriteString(text[i-n : i])
		}
	}
	return b.String()
}

// Line is [Clean] for text on one line: all white space becomes single blanks.
func Line(text string) string { return strings.Join(strings.Fields(Clean(text)), " ") }

func steers(r rune) bool { return r != '\n' && r != '\t' && unicode.IsControl(r) }

// introduced returns the length of a control sequence after its escape: that of c and the part
// of rest that belongs to it, by ECMA-48, 5.4 and 5.6. It is 0 if c cannot follow an escape.
func introduced(c byte, rest string) int {
	switch {
	case c == '[':
		i := span(rest, 0, '0', '?')
		i = span(rest, i, ' ', '/')
		return 1 + min(span(rest, i, '@', '~'), i+1)
	case strings.IndexByte("]PX^_", c) >= 0:
		return 1 + controlString(rest)
	case c >= ' ' && c <= '/':
		i := span(rest, 0, ' ', '/')
		return 1 + min(span(rest, i, '0', '~'), i+1)
	case c >= '0' && c <= '~':
		return 1
	}
	return 0
}

// span skips the bytes between lo and hi that begin at i.
func span(text string, i int, lo, hi byte) int {
	for i < len(text) && text[i] >= lo && text[i] <= hi {
		i++
	}
	return i
}

// controlString returns the length of a string sequence such as a window title: up to BEL or
// ST, or else to the next escape or the end of the line.
func controlString(text string) int {
	for i := range len(text) {
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
		case '\xc2': // the first byte of a C1
			if strings.HasPrefix(text[i:], "\u009c") {
				return i + len("\u009c")
			}
		}
	}
	return len(text)
}
