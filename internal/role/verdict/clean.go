package verdict

import (
	"strings"
	"unicode"

	"codeloops/internal/wording"
)

// clean returns the reply as the parser reads it: without control sequences,
// without blanks at the ends of lines, and without an indentation that all its
// lines share.
func clean(reply string) string {
	text := wording.Clean(reply)
	if strings.Contains(text, " \n") || strings.Contains(text, "\t\n") || strings.Contains(text, "\u00a0\n") {
		text = mapLines(text, func(line string) string { return strings.TrimRight(line, blanks) })
	}
	text = strings.Trim(text, "\n")
	if text != "" && strings.IndexByte(" \t", text[0]) >= 0 {
		text = dedent(text)
	}
	return strings.TrimRight(text, blanks+"\n")
}

// blanks are what may stand at the end of a line without a meaning.
const blanks = " \t\u00a0"

func mapLines(text string, f func(string) string) string {
	var b strings.Builder
	b.Grow(len(text))
	for line := range strings.Lines(text) {
		body, ended := strings.CutSuffix(line, "\n")
		b.WriteString(f(body))
		if ended {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// dedent takes away the bytes of indentation that every line has.
func dedent(text string) string {
	least := len(text)
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if body := strings.TrimLeft(line, " \t"); body != "" {
			least = min(least, len(line)-len(body))
		}
	}
	if least == 0 {
		return text
	}
	return mapLines(text, func(line string) string { return line[min(least, len(line)):] })
}

// invisible reports whether r shows nothing: a zero-width character, a byte
// order mark, a variation selector.
func invisible(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Variation_Selector)
}

func blank(r rune) bool { return unicode.IsSpace(r) || invisible(r) }

// maxIndent is how far a line may be indented and still be text to Markdown.
const maxIndent = 3
