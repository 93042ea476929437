package render

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Quoted returns a path as git prints it: one with special characters as a C string. Letters of any
// language are not special.
func Quoted(path string) string {
	odd := strings.ContainsFunc(path, func(r rune) bool {
		return r == '"' || r == '\\' || r == utf8.RuneError || !unicode.IsPrint(r)
	})
	if !odd {
		return path
	}
	var b strings.Builder
	b.WriteByte('"')
	for len(path) > 0 {
		r, n := utf8.DecodeRuneInString(path)
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + path[:n])
		case r == '\n' || r == '\t' || r == '\r':
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		case r == utf8.RuneError || !unicode.IsPrint(r):
			for i := range n {
				fmt.Fprintf(&b, `\%03o`, path[i])
			}
		default:
			b.WriteString(path[:n])
		}
		path = path[n:]
	}
	b.WriteByte('"')
	return b.String()
}
