package transcript

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"codeloops/internal/loop"
	"codeloops/internal/proc"
	"codeloops/internal/wording"
)

// maxNotice bounds a line for the screen, in bytes.
const maxNotice = 240

// An excerpt keeps a text that grows, with marks where bytes were never written.
type excerpt struct {
	proc.Excerpt
	gone int64 // bytes in whose places the marks stand
}

func (e *excerpt) write(s string) { _, _ = e.Write([]byte(s)) }

// output returns the text, with a line between head and tail that says what is missing.
func (e *excerpt) output() loop.Output {
	c := e.Captured("")
	return loop.Output{Text: string(c.Text), Total: c.Total + e.gone, Omitted: c.Omitted + e.gone}
}

// Line returns a text as one line of at most 240 bytes: control
// characters and white space become single spaces, and escape sequences of
// terminals go.
func Line(s string) string { return line(s, maxNotice) }

// line is Line for another bound, of 4 KiB at most.
func line(s string, most int) string {
	s = strings.TrimSpace(s)
	s = s[:min(len(s), maxHead)] // a message may be long, a line is not
	s = wording.Clean(string(proc.WholeEnd([]byte(s))))
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || !unicode.IsPrint(r) }), " ")
	for i := range s {
		if i > most-len(" …")-utf8.UTFMax && s[i-1] != ' ' {
			return s[:i] + " …"
		}
	}
	return s
}
