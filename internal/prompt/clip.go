package prompt

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"codeloops/internal/wording"
)

// noteSize is an upper bound for the length of the line that marks a cut.
const noteSize = 128

// Clip returns text if it has at most budget bytes. Otherwise it returns about head bytes
// of its beginning and as much of its end as fits, with a line between them that says how
// much is missing. It cuts at line breaks where it can. If the budget is too small for
// any text, only that line is left.
func Clip(text string, budget, head int) string {
	if len(text) <= budget {
		return text
	}
	room := max(0, budget-noteSize)
	first := start(text, min(max(0, head), room))
	last := ending(text[len(first):], room-len(first))
	missing := text[len(first) : len(text)-len(last)]

	var b strings.Builder
	b.WriteString(first)
	if first != "" && !strings.HasSuffix(first, "\n") {
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "[... %s left out here ...]\n", amount(missing))
	b.WriteString(last)
	return b.String()
}

// start returns at most n bytes from the beginning of text: whole lines, or whole
// characters if whole lines would lose more than half.
func start(text string, n int) string {
	if n >= len(text) {
		return text
	}
	if i := strings.LastIndexByte(text[:n], '\n') + 1; i > n/2 {
		return text[:i]
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// ending is start for the end of text.
func ending(text string, n int) string {
	at := len(text) - max(0, n)
	if at <= 0 {
		return text
	}
	if i := strings.IndexByte(text[at:], '\n'); i >= 0 && i < n/2 {
		return text[at+i+1:]
	}
	for at < len(text) && !utf8.RuneStart(text[at]) {
		at++
	}
	return text[at:]
}

func amount(text string) string {
	return fmt.Sprintf("%s (%s)", wording.Count(len(text), "byte"), wording.Count(lines(text), "line"))
}

func lines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}
