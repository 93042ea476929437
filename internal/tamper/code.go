package tamper

import "strings"

// split takes a line apart. It knows nothing of the lines before it: of a
// comment or a string over several lines it sees only one that begins in this
// line, or a line of a comment that begins with a star.
func (l *language) split(text string) (code, bare, comment string) {
	if l.block && starred(text) {
		return "", "", text
	}
	var c, b strings.Builder
	var quote byte
	for i := 0; i < len(text); i++ {
		ch := text[i]
		switch {
		case quote != 0 && ch == '\\' && i+1 < len(text):
			c.WriteString(text[i : i+2])
			b.WriteString("  ")
			i++
			continue
		case quote != 0 && ch != quote:
			c.WriteByte(ch)
			b.WriteByte(' ')
			continue
		case quote != 0:
			quote = 0
		case strings.IndexByte(l.quotes, ch) >= 0:
			quote = ch
		case strings.HasPrefix(text[i:], l.line):
			return c.String(), b.String(), comment + text[i:]
		case l.block && strings.HasPrefix(text[i:], "/*"):
			inner, _, closed := strings.Cut(text[i+2:], "*/")
			comment += inner + " "
			if !closed {
				return c.String(), b.String(), comment
			}
			i += len(inner) + 3
			continue
		}
		c.WriteByte(ch)
		b.WriteByte(ch)
	}
	return c.String(), b.String(), comment
}

// starred reports whether a line looks like one in the middle of a comment
// between /* and */.
func starred(text string) bool {
	text = strings.TrimSpace(text)
	return text == "*" || strings.HasPrefix(text, "* ") || strings.HasPrefix(text, "*/")
}
