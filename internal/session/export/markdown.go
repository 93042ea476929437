package export

import (
	_ "embed" // the template
	"strings"
	"text/template"

	"codeloops/internal/loop"
)

//go:embed page.md
var markdownText string

// Limits of a description of a pull request, of which GitHub takes 64 KiB: the bytes of all
// texts, and of each.
const (
	markdownSize   = 40 << 10
	mostOfMarkdown = 4 << 10
)

// newMarkdown returns the template of what belongs into the description of a pull request.
// The diff is none of it: it stands beside it.
func newMarkdown() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{"code": code, "fence": fence, "known": known}).Parse(markdownText))
}

// fence is what stands around a block of code, which nothing in it can end.
func fence(body string) string { return strings.Repeat("`", max(3, longestRun(body)+1)) }

// longestRun counts the back-ticks of the longest run of them.
func longestRun(text string) (longest int) {
	run := 0
	for i := range len(text) {
		if text[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

// code writes a line as a span of code, which nothing in it can end (see
// CommonMark, code spans).
func code(said string) string {
	said = line(said)
	if said == "" {
		return ""
	}
	if !strings.Contains(said, "`") {
		return "`" + said + "`"
	}
	marks := strings.Repeat("`", longestRun(said)+1)
	return marks + " " + said + " " + marks
}

// known is a decision that stands outside of code.
func known(decision string) string {
	switch loop.Decision(decision) {
	case loop.Done, loop.Continue, loop.Error:
		return decision
	}
	return "?"
}
