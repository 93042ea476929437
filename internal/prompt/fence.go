package prompt

import (
	"strings"

	"codeloops/internal/wording"
)

// Fenced returns a text in a code fence that is longer than any row of back-ticks in the
// text, so that nothing in it can end the fence.
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

// Quoted returns somebody else's text in a fence, without control sequences and cut to
// about most bytes.
func Quoted(text string, most int) string {
	return Fenced(Clip(strings.TrimSpace(wording.Clean(text)), most, most/2))
}
