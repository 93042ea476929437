package patch

import (
	"fmt"
	"strings"
)

// devNull is the name of a file that does not exist.
const devNull = "/dev/null"

// header returns the lines between the first one and the patch.
func (p Pair) header() (lines string) {
	before, after := p.Before, p.After
	switch {
	case !before.exists():
		lines = fmt.Sprintf("new file mode %06o\n", after.Mode)
	case !after.exists():
		lines = fmt.Sprintf("deleted file mode %06o\n", before.Mode)
	case before.Mode != after.Mode:
		lines = fmt.Sprintf("old mode %06o\nnew mode %06o\n", before.Mode, after.Mode)
	}
	if before.ID == after.ID {
		return lines
	}
	lines += fmt.Sprintf("index %x..%x", before.ID, after.ID)
	if before.Mode == after.Mode {
		lines += fmt.Sprintf(" %06o", after.Mode)
	}
	return lines + "\n"
}

// names returns what git calls the sides.
func (p Pair) names() (was, is string) {
	was, is = Quote("a/"+p.Path), Quote("b/"+p.Path)
	if !p.Before.exists() {
		was = devNull
	}
	if !p.After.exists() {
		is = devNull
	}
	return was, is
}

// named returns the lines that name the sides before hunks.
func (p Pair) named() string {
	was, is := p.names()
	return fmt.Sprintf("--- %s%s\n+++ %s%s\n", was, tab(was), is, tab(is))
}

// tab returns a tab to put after a name with a space, so that GNU patch does not take what follows
// the space for a date.
func tab(name string) string {
	if strings.Contains(name, " ") {
		return "\t"
	}
	return ""
}

// tooLarge returns a line with the sizes of a file that was not compared. Parsers of patches skip such
// a line between two files.
func tooLarge(before, after Side) string {
	switch {
	case !before.exists():
		return fmt.Sprintf("# too large to compare: %d bytes\n", after.size())
	case !after.exists():
		return fmt.Sprintf("# too large to compare: %d bytes before\n", before.size())
	default:
		return fmt.Sprintf("# too large to compare: %d bytes before, %d bytes after\n", before.size(), after.size())
	}
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
