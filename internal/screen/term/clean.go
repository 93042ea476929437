package term

import (
	"strings"
	"unicode"
	"unicode/utf8"

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

// harmless reports whether Clean would change nothing. Almost every text is harmless, and a list
// of sessions has megabytes of prompts. Letters from U+0600 on may be marks of direction
// and are looked at by Clean itself.
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
		if size == 1 || r < 0xa0 || r >= 0x600 {
			return false
		}
		i += size - 1
	}
	return true
}

// Line is Clean for text that has to fit on one line: each run of white space becomes one
// space.
func Line(text string) string {
	text = strings.TrimSpace(Clean(text))
	at := unevenSpace(text)
	if at == len(text) {
		return text
	}
	var line strings.Builder
	line.Grow(len(text))
	for ; at < len(text); at = unevenSpace(text) {
		line.WriteString(text[:at])
		line.WriteByte(' ')
		text = strings.TrimLeftFunc(text[at:], unicode.IsSpace)
	}
	line.WriteString(text)
	return line.String()
}

// unevenSpace returns where the first white space begins that is not a single space between words;
// the length of the text if there is none. The text must not end in white space.
// [strings.Fields] takes four times as long where a text is not all ASCII.
func unevenSpace(text string) int {
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

// ASCII replaces the non-ASCII signs of codeloops' own output, for a terminal that cannot
// show them. Only the ellipsis gets wider.
func ASCII(text string) string { return asASCII.Replace(text) }

var asASCII = strings.NewReplacer("…", "...", "·", "-", "−", "-", "│", "|", "→", "->", "≥", ">=") //nolint:gochecknoglobals // a table
