package prompt

import (
	"slices"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/wording"
)

// Bulleted is what a verdict finds wrong, an item a line: the changes that it
// requires and its issues or, where it has neither, its words as the one item.
// What an ERROR advises always stands first. "" is a verdict that says nothing.
func Bulleted(v loop.Verdict) string {
	items := slices.Concat(v.RequiredChanges, v.Issues)
	if len(items) == 0 || v.Decision == loop.Error {
		items = slices.Insert(items, 0, v.Guidance())
	}
	var b strings.Builder
	for _, item := range items {
		if item = strings.TrimSpace(wording.Clean(item)); item != "" {
			b.WriteString("- " + strings.ReplaceAll(item, "\n", "\n  ") + "\n")
		}
	}
	return b.String()
}
