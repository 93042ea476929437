package transcript

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"codeloops/internal/proc"
)

// maxHalf is how much is kept of the head of a long text, in bytes of JSON, and once or
// twice as much of its tail.
const maxHalf = 512 << 10

// An abridger shortens a JSON object by omitting the middles of its long strings. Input
// that is not JSON is kept until the abridger is full. The zero value is ready.
type abridger struct {
	out  []byte
	full bool // still too long: out is only the head of the line

	text   bool   // inside a string
	escape []byte // an unfinished escape sequence
	head   int    // bytes of the string in out
	older  []byte // the string's tail: older, then newer
	newer  []byte
	left   int64 // omitted bytes of the string

	cuts map[string]int64 // the mark in each string that was cut, and the number of omitted bytes
}

// write takes the next part of the line.
func (a *abridger) write(part []byte) {
	for len(part) > 0 && !a.full {
		switch {
		case len(a.escape) > 0:
			part = a.unescape(part)
		case !a.text:
			end := bytes.IndexByte(part, '"') + 1
			if a.text = end > 0; !a.text {
				end = len(part)
			}
			a.put(part[:end])
			part = part[end:]
		default:
			end := bytes.IndexAny(part, `"\`)
			if end < 0 {
				end = len(part)
			}
			a.keep(part[:end])
			part = part[end:]
			switch {
			case len(part) == 0:
			case part[0] == '"':
				a.endText()
				a.put(part[:1])
				part = part[1:]
			default:
				a.escape = append(a.escape, '\\')
				part = part[1:]
			}
		}
	}
}

// unescape takes the next byte of an escape sequence, which must not be cut.
func (a *abridger) unescape(part []byte) (rest []byte) {
	const short, long = len(`\n`), len(`\u0041`)
	a.escape = append(a.escape, part[0])
	if size := len(a.escape); size == long || size == short && part[0] != 'u' {
		a.keep(a.escape)
		a.escape = a.escape[:0]
	}
	return part[1:]
}

func (a *abridger) put(b []byte) {
	if a.full = len(a.out)+len(b) > maxLine; !a.full {
		a.out = append(a.out, b...)
	}
}

// keep adds a part of a string to its head or its tail. It cuts between characters.
func (a *abridger) keep(b []byte) {
	for len(b) > 0 {
		if a.head < maxHalf || len(a.newer) == 0 && !utf8.RuneStart(b[0]) {
			n := wholeRunes(b, maxHalf-a.head)
			a.put(b[:n])
			a.head += n
			b = b[n:]
			continue
		}
		if len(a.newer) >= maxHalf && utf8.RuneStart(b[0]) {
			a.left += int64(len(a.older))
			a.older, a.newer = a.newer, a.older[:0]
		}
		n := wholeRunes(b, maxHalf-len(a.newer))
		a.newer = append(a.newer, b[:n]...)
		b = b[n:]
	}
}

// wholeRunes returns how many bytes of b to put where there is room for that many. It
// completes the last character; an escape sequence counts as one.
func wholeRunes(b []byte, room int) int {
	if b[0] == '\\' {
		return len(b)
	}
	n := min(len(b), max(room, 0))
	for n < len(b) && !utf8.RuneStart(b[n]) {
		n++
	}
	return n
}

func (a *abridger) endText() {
	if a.left > 0 {
		if a.cuts == nil {
			a.cuts = map[string]int64{}
		}
		a.put(fmt.Appendf(nil, `\n[… %d bytes omitted …]\n`, a.left))
		a.cuts[proc.Omission(a.left)] = a.left
	}
	a.put(a.older)
	a.put(a.newer)
	a.text, a.head, a.left, a.older, a.newer = false, 0, 0, a.older[:0], a.newer[:0]
}
