package transcript

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"codeloops/internal/proc"
)

// maxHalf is how much of a text within a line that is too long is kept, in bytes of
// JSON: so much of its head, and once or twice as much of its tail.
const maxHalf = 512 << 10

// An abridger makes a JSON object short enough to be read: of its long texts it
// leaves the middles out. What is no JSON only grows until it is full. The zero
// value is ready.
type abridger struct {
	out  []byte
	full bool // it did not become short enough: out is the head of the line

	text   bool   // within a text
	escape []byte // an escape sequence that is not over yet
	head   int    // bytes of the text in out
	older  []byte // its tail: these, then newer
	newer  []byte
	left   int64 // bytes of the text that are left out

	cuts map[string]int64 // what stands for them in each text that is cut, and their number
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

// put adds to what is kept for good.
func (a *abridger) put(b []byte) {
	if a.full = len(a.out)+len(b) > maxLine; !a.full {
		a.out = append(a.out, b...)
	}
}

// keep takes a part of a text: to its head, or to its tail. It begins no half within a
// character.
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

// wholeRunes returns how much of b goes where there is room for so much, or for
// nothing but the rest of a character. An escape sequence is one.
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
