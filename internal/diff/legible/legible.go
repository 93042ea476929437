// Package legible turns content that git takes for binary into text for people.
package legible

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Text returns content as readable lines, with UTF-16 converted to UTF-8 and control characters
// escaped as in Go. Lines that are not text are left out and counted. It reports false if
// hardly anything is left.
func Text(content []byte) (text []byte, ok bool) {
	if decoded, wide := FromUTF16(content); wide {
		content = decoded
	}
	text = make([]byte, 0, len(content))
	shown, dropped := 0, 0 // characters; a run of one control character counts once
	pending := 0           // bytes of lines that were left out and are not yet reported
	flush := func() {
		if pending > 0 {
			text = fmt.Appendf(text, "[%d bytes that are no text]\n", pending)
			pending = 0
		}
	}
	for line := range bytes.Lines(content) {
		escaped, printable, zeros, odd := escape(line)
		const some, share = 2, 8 // a line of text may well have a zero byte or two
		if odd*share > printable || zeros > some && zeros*share > printable {
			pending += len(line)
			dropped += printable + zeros + odd
			continue
		}
		flush()
		text = append(text, escaped...)
		shown += printable
	}
	flush()
	const least = 10 // percent
	return text, shown*100 >= (shown+dropped)*least
}

// escape returns a line with its control characters escaped. It counts the printable characters, the
// zero bytes and the other control characters; a run of one control character counts once.
func escape(line []byte) (escaped []byte, printable, zeros, odd int) {
	for len(line) > 0 {
		r, size := utf8.DecodeRune(line)
		control := r < ' ' && !strings.ContainsRune("\t\n\r\f", r) || r == 0x7f
		if !control && (r != utf8.RuneError || size > 1) {
			escaped = append(escaped, line[:size]...)
			line = line[size:]
			printable++
			continue
		}
		run := size
		for run < len(line) && line[run] == line[0] {
			run++
		}
		if line[0] == 0 {
			zeros++
		} else {
			odd++
		}
		escaped = fmt.Appendf(escaped, `\x%02x`, line[0])
		if run > 1 {
			escaped = fmt.Appendf(escaped, "(×%d)", run)
		}
		line = line[run:]
	}
	return escaped, printable, zeros, odd
}

// FromUTF16 decodes UTF-16 that is recognized by a byte order mark, or by the positions of its zero
// bytes. It reports false for anything else.
func FromUTF16(content []byte) (text []byte, ok bool) {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(content, []byte{0xff, 0xfe}):
		order, content = binary.LittleEndian, content[2:]
	case bytes.HasPrefix(content, []byte{0xfe, 0xff}):
		order, content = binary.BigEndian, content[2:]
	default:
		if order = guessed(content); order == nil {
			return nil, false
		}
	}
	if len(content)%2 != 0 {
		return nil, false
	}
	units := make([]uint16, len(content)/2)
	for i := range units {
		units[i] = order.Uint16(content[2*i:])
	}
	return []byte(string(utf16.Decode(units))), true
}

// guessed returns the byte order of UTF-16 with mostly Latin letters, in which almost every second
// byte is zero and no other is; otherwise nil.
func guessed(content []byte) binary.ByteOrder {
	const least, share = 4, 10
	var zeros [2]int
	for i, b := range content {
		if b == 0 {
			zeros[i%2]++
		}
	}
	half := len(content) / 2
	switch {
	case half < least:
	case zeros[0] == 0 && zeros[1]*share > half*(share-1):
		return binary.LittleEndian
	case zeros[1] == 0 && zeros[0]*share > half*(share-1):
		return binary.BigEndian
	}
	return nil
}
