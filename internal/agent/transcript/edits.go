package transcript

import (
	"slices"
	"strings"
)

// lines counts the lines that a tool adds and removes; none if the CLI does not tell.
func (i input) lines() (added, removed int) {
	for _, one := range append(slices.Clip(i.edits), i.arguments) {
		plus, minus := one.swapped()
		added, removed = added+plus, removed+minus
	}
	for line := range strings.Lines(i.first("patch", "patchText")) {
		switch {
		case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"):
		case line[0] == '+':
			added++
		case line[0] == '-':
			removed++
		}
	}
	return added, removed
}

// swapped counts the added and removed lines of a text and its replacement, without common lines
// at both ends.
func (a arguments) swapped() (added, removed int) {
	before := linesOf(a.first("old_string", "oldString", "old_str", "oldText"))
	after := linesOf(a.first("new_string", "newString", "new_str", "newText"))
	same := func(at func(lines []string, i int) string) (n int) {
		for n < len(before) && n < len(after) && at(before, n) == at(after, n) {
			n++
		}
		return n
	}
	head := same(func(lines []string, i int) string { return lines[i] })
	before, after = before[head:], after[head:]
	tail := same(func(lines []string, i int) string { return lines[len(lines)-1-i] })
	return len(after) - tail, len(before) - tail
}

func linesOf(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}
