// Package patch compares texts as git does, and writes names as git does.
package patch

import (
	"bytes"
	"fmt"
	"strings"
)

// sniffed is how many bytes git searches for a NUL to recognize a binary file.
const sniffed = 8000

// Binary reports whether content is binary to git.
func Binary(content []byte) bool {
	return bytes.IndexByte(content[:min(len(content), sniffed)], 0) >= 0
}

// Quote returns a name as git writes it with core.quotePath on: as a C string if it has a quote, a
// backslash, a control character or a byte outside ASCII, and otherwise unchanged.
func Quote(name string) string {
	if strings.IndexFunc(name, needsQuote) < 0 {
		return name
	}
	const (
		named   = "\a\b\t\n\v\f\r\"\\"
		letters = "abtnvfr\"\\"
	)
	quoted := []byte{'"'}
	for i := range len(name) {
		c := name[i]
		switch at := strings.IndexByte(named, c); {
		case at >= 0:
			quoted = append(quoted, '\\', letters[at])
		case needsQuote(rune(c)):
			quoted = fmt.Appendf(quoted, `\%03o`, c)
		default:
			quoted = append(quoted, c)
		}
	}
	return string(append(quoted, '"'))
}

func needsQuote(r rune) bool {
	return r < ' ' || r >= 0x7f || r == '"' || r == '\\'
}
