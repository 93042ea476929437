package proc

import (
	"fmt"
	"slices"
	"unicode/utf8"
)

// An Excerpt keeps a growing text: all of it while it fits, then its head and its end.
// The zero value keeps nothing.
type Excerpt struct {
	Keep  int   // bytes of head and tail together
	End   int   // bytes of the end that are kept in any case
	Total int64 // bytes written
	head  []byte
	tail  []byte
}

// Write implements [io.Writer]. It never fails.
func (e *Excerpt) Write(b []byte) (int, error) {
	size := len(b)
	e.Total += int64(size)
	fits := min(e.Keep/2-len(e.head), size)
	e.head = grow(e.head, b[:fits], e.Keep/2)
	most := max(e.Keep-e.Keep/2, e.End)
	b = b[fits:]
	b = b[max(0, len(b)-most):]
	if len(e.tail)+len(b) > 2*most { // moves the tail once in most bytes, not every time
		e.tail = append(e.tail[:0], e.tail[len(e.tail)-(most-len(b)):]...)
	}
	e.tail = grow(e.tail, b, 2*most)
	return size, nil
}

// grow appends with a capacity that doubles, up to most bytes. Plain append copies long
// texts more often, and [slices.Grow] copies twice under the race detector.
func grow(text, b []byte, most int) []byte {
	if len(text)+len(b) > cap(text) {
		text = append(make([]byte, 0, min(most, max(2*len(text), len(text)+len(b)))), text...)
	}
	return append(text, b...)
}

// Captured returns what is kept, cut between characters. Nothing may be written after it.
func (e *Excerpt) Captured(file string) Captured {
	c := Captured{Total: e.Total, Omitted: e.Total, File: file}
	switch keep := int64(e.Keep); {
	case e.Total <= keep:
		c.Text, c.Omitted = slices.Concat(e.head, e.tail), 0
		return c
	case keep > 0:
		head, tail := WholeEnd(e.head), wholeStart(e.tail[len(e.tail)-(e.Keep-e.Keep/2):])
		c.Omitted = e.Total - int64(len(head)) - int64(len(tail))
		c.Text = slices.Concat(head, []byte(Omission(c.Omitted)), tail)
	}
	c.End = slices.Clone(e.tail[max(0, len(e.tail)-e.End):])
	if missing := e.End - len(c.End); missing > 0 { // nothing is missing between head and tail
		c.End = slices.Concat(e.head[max(0, len(e.head)-missing):], c.End)
	}
	return c
}

// Omission is the line that replaces omitted bytes.
func Omission(omitted int64) string { return fmt.Sprintf("\n[… %d bytes omitted …]\n", omitted) }

// WholeEnd drops an incomplete character from the end of b.
func WholeEnd(b []byte) []byte {
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

// wholeStart drops an incomplete character from the start of b.
func wholeStart(b []byte) []byte {
	rest := min(len(b), utf8.UTFMax-1)
	for i := range rest {
		if utf8.RuneStart(b[i]) {
			return b[i:]
		}
	}
	if rest == len(b) || utf8.RuneStart(b[rest]) {
		return b[rest:]
	}
	return b // not UTF-8
}
