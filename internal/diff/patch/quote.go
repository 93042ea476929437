package patch

import "strings"

// quote returns name as git writes it with core.quotePath on: unchanged, or as
// a C string when it has a quote, a backslash, a control character or a byte
// outside ASCII.
func quote(name string) string {
	if strings.IndexFunc(name, needsQuote) < 0 {
		return name
	}
	var b strings.Builder
	b.Grow(len(name) + 16)
	b.WriteByte('"')
	for i := range len(name) {
		writeQuoted(&b, name[i])
	}
	b.WriteByte('"')
	return b.String()
}

func needsQuote(r rune) bool {
	return r < ' ' || r >= 0x7f || r == '"' || r == '\\'
}

func writeQuoted(b *strings.Builder, c byte) {
	const (
		named   = "\a\b\t\n\v\f\r\"\\"
		letters = "abtnvfr\"\\"
	)
	if i := strings.IndexByte(named, c); i >= 0 {
		b.WriteByte('\\')
		b.WriteByte(letters[i])
		return
	}
	if !needsQuote(rune(c)) {
		b.WriteByte(c)
		return
	}
	b.WriteByte('\\')
	b.WriteByte('0' + c>>6)
	b.WriteByte('0' + c>>3&7)
	b.WriteByte('0' + c&7)
}
