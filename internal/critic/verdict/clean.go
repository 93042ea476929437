package verdict

import (
	"strings"
	"unicode"

	"codeloops/internal/wording"
)

// clean returns the reply as the parser reads it: without control sequences, trailing
// blanks and common indentation.
func clean(reply string) string {
	text := mapLines(wording.Clean(reply), func(line string) string { return strings.TrimRight(line, blanks) })
	return strings.TrimRight(dedent(strings.Trim(text, "\n")), blanks+"\n")
}

// blanks have no meaning at the end of a line.
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

// dedent removes the indentation that all lines share.
func dedent(text string) string {
	least := len(text)
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if body := strings.TrimLeft(line, " \t"); body != "" {
			least = min(least, len(line)-len(body))
		}
	}
	return mapLines(text, func(line string) string { return line[min(least, len(line)):] })
}

// invisible reports whether r is a zero-width character, a byte order mark or a variation
// selector.
func invisible(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Variation_Selector)
}

func blank(r rune) bool { return unicode.IsSpace(r) || invisible(r) }

// maxIndent is how far a line may be indented and still be a paragraph in Markdown.
const maxIndent = 3
