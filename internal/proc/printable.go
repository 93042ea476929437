package proc

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const maxCommandLine = 200

// printable makes one line of a command line or a name that others have
// chosen: nothing in it acts on a terminal, and it is 200 bytes at most.
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
