package transcript

import (
	"cmp"
	"slices"
	"strings"
)

// A swap is a text and its replacement, under the names that the CLIs use.
type swap struct {
	Old      loose `json:"old_string"`
	New      loose `json:"new_string"`
	OldCamel loose `json:"oldString"`
	NewCamel loose `json:"newString"`
	OldShort loose `json:"old_str"`
	NewShort loose `json:"new_str"`
	OldText  loose `json:"oldText"`
	NewText  loose `json:"newText"`
}

// lines counts the added and removed lines, without common lines at both ends.
func (s swap) lines() (added, removed int) {
	before := linesOf(string(cmp.Or(s.Old, s.OldCamel, s.OldShort, s.OldText)))
	after := linesOf(string(cmp.Or(s.New, s.NewCamel, s.NewShort, s.NewText)))
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

// edits are the changes of one call of a tool.
type edits struct {
	swap

	Edits     []swap `json:"edits"`
	Patch     loose  `json:"patch"`
	PatchText loose  `json:"patchText"`
}

// lines counts the added and removed lines; none if the CLI does not tell.
func (e edits) lines() (added, removed int) {
	for _, one := range append(slices.Clip(e.Edits), e.swap) {
		plus, minus := one.lines()
		added, removed = added+plus, removed+minus
	}
	for line := range strings.Lines(string(cmp.Or(e.Patch, e.PatchText))) {
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
