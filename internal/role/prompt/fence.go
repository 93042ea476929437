package prompt

import (
	"strings"

	"codeloops/internal/wording"
)

// Fenced returns a text between two rows of back-ticks that are longer than any in it, so
// that nothing in it ends them.
func Fenced(text string) string {
	longest, run := 0, 0
	for _, c := range text {
		if c != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	row := strings.Repeat("`", max(3, longest+1))
	return row + "\n" + strings.Trim(text, "\n") + "\n" + row + "\n"
}

// Quoted is what somebody else has said, [Fenced]: without what steers a terminal, and cut to
// about most bytes.
func Quoted(text string, most int) string {
	return Fenced(Clip(strings.TrimSpace(wording.Clean(text)), most, most/2))
}
