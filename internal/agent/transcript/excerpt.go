package transcript

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"codeloops/internal/loop"
	"codeloops/internal/plain"
)

// maxNotice bounds a line for the screen, in bytes.
const maxNotice = 240

// An excerpt keeps a text that grows: all of it while it fits, then its head
// and its tail. The zero value keeps nothing.
type excerpt struct {
	limit int // bytes
	head  []byte
	tail  []byte
	total int64
}

func (e *excerpt) write(s string) {
	e.total += int64(len(s))
	room := e.limit/2 - len(e.head)
	fits := max(0, min(room, len(s)))
	e.head = append(e.head, s[:fits]...)
	e.tail = append(e.tail, s[fits:]...)
	if rest := e.limit - e.limit/2; len(e.tail) > 2*rest {
		e.tail = append(e.tail[:0], e.tail[len(e.tail)-rest:]...)
	}
}

// output returns the text, with a line between head and tail that says what is
// missing. It cuts between characters.
func (e *excerpt) output() loop.Output {
	if e.total <= int64(e.limit) {
		return loop.Output{Text: string(e.head) + string(e.tail), Total: e.total}
	}
	head, tail := wholeEnd(e.head), e.tail[max(0, len(e.tail)-(e.limit-e.limit/2)):]
	for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	omitted := e.total - int64(len(head)) - int64(len(tail))
	text := ""
	if e.limit > 0 {
		text = fmt.Sprintf("%s\n[… %d bytes omitted …]\n%s", head, omitted, tail)
	}
	return loop.Output{Text: text, Total: e.total, Omitted: omitted}
}

// wholeEnd drops a character from b's end that is cut off.
func wholeEnd(b []byte) []byte {
	for i := 1; i < utf8.UTFMax && i <= len(b); i++ {
		if c := b[len(b)-i:]; utf8.RuneStart(c[0]) {
			if !utf8.FullRune(c) {
				return b[:len(b)-i]
			}
			break
		}
	}
	return b
}

// Line returns a text as one line of at most 240 bytes: control
// characters and white space become single spaces, and escape sequences of
// terminals go.
func Line(s string) string {
	s = strings.TrimSpace(s)
	s = plain.Text(string(wholeEnd([]byte(s[:min(len(s), maxHead)])))) // a message may be long, a line is not
	var b strings.Builder
	space := false
	for _, r := range s {
		if unicode.IsSpace(r) || !unicode.IsPrint(r) {
			space = b.Len() > 0
			continue
		}
		if b.Len() > maxNotice-len(" …")-utf8.UTFMax {
			return b.String() + " …"
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
	return b.String()
}
