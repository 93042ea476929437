package proc

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const maxCommandLine = 200

// printable turns a foreign command line or name into one line of at most 200 bytes,
// without control characters.
func printable(s string) string {
	var b strings.Builder
	for _, c := range strings.TrimSpace(strings.ToValidUTF8(s, "\uFFFD")) {
		if !unicode.IsPrint(c) {
			c = ' '
		}
		if b.Len()+utf8.RuneLen(c) > maxCommandLine-len("…") {
			b.WriteString("…")
			break
		}
		b.WriteRune(c)
	}
	return b.String()
}
