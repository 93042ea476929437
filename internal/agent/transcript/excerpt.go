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

// An excerpt keeps a growing text that may itself hold marks of omitted bytes.
type excerpt struct {
	proc.Excerpt
	gone int64 // bytes that those marks replace
}

func (e *excerpt) write(s string) { _, _ = e.Write([]byte(s)) }

func (e *excerpt) output() loop.Output {
	c := e.Captured("")
	return loop.Output{Text: string(c.Text), Total: c.Total + e.gone, Omitted: c.Omitted + e.gone}
}

// Line returns a text as one line of at most 240 bytes. Control characters and white space
// become single spaces; terminal escape sequences are removed.
func Line(s string) string { return line(s, maxNotice) }

// line is like Line, with another bound of at most 4 KiB.
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
