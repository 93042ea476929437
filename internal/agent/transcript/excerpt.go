package transcript

import (
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
	gone  int64 // bytes of total that were never written: there stand marks in their places
}

// lacks counts bytes that are marked as left out in what was written.
func (e *excerpt) lacks(bytes int64) {
	e.total += bytes
	e.gone += bytes
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
	if e.total-e.gone <= int64(e.limit) {
		return loop.Output{Text: string(e.head) + string(e.tail), Total: e.total, Omitted: e.gone}
	}
	head, tail := wholeEnd(e.head), e.tail[max(0, len(e.tail)-(e.limit-e.limit/2)):]
	for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	omitted := e.total - int64(len(head)) - int64(len(tail))
	text := ""
	if e.limit > 0 {
		text = string(head) + omission(omitted) + string(tail)
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
func Line(s string) string { return line(s, maxNotice) }

// line is Line for another bound, of 4 KiB at most.
func line(s string, most int) string {
	s = strings.TrimSpace(s)
	s = s[:min(len(s), maxHead)] // a message may be long, a line is not
	text, clean := oneLine(s, most)
	if !clean {
		text, _ = oneLine(plain.Text(string(wholeEnd([]byte(s)))), most)
	}
	return text
}

// oneLine is line for a text that drives no terminal, as most do not: clean is
// false when it meets what only [plain.Text] can judge.
func oneLine(s string, most int) (text string, clean bool) {
	b := make([]byte, 0, maxNotice) // mostly enough, and no work for the collector
	space := false
	for i := 0; i < len(s); {
		size, visible := 1, s[i] > ' ' && s[i] <= '~'
		if !visible {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 || unicode.IsControl(r) && r != '\n' && r != '\t' {
				return "", false
			}
			size, visible = n, r != ' ' && unicode.IsPrint(r)
		}
		switch {
		case !visible:
			space = len(b) > 0
		case len(b) > most-len(" …")-utf8.UTFMax:
			return string(b) + " …", true
		default:
			if space {
				b = append(b, ' ')
				space = false
			}
			for j := range size { // mostly one: not worth a copy
				b = append(b, s[i+j])
			}
		}
		i += size
	}
	return string(b), true
}
