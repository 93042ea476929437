package prompt

import (
	"slices"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/wording"
)

// Bulleted lists what a verdict finds wrong: its required changes and issues or, if it
// has neither, its guidance. The guidance of an ERROR always comes first. It returns ""
// for a verdict that says nothing.
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
