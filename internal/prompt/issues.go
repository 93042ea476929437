package prompt

import (
	"slices"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/wording"
)

// Guidance returns the account of a verdict, with the issues and required changes that it does
// not mention.
func Guidance(v loop.Verdict) string {
	words := strings.TrimSpace(wording.Clean(v.Account()))
	for _, item := range slices.Concat(v.RequiredChanges, v.Issues) {
		item = strings.TrimSpace(wording.Clean(item))
		if !strings.Contains(words, item) {
			words = strings.TrimLeft(words+"\n- "+item, "\n")
		}
	}
	return words
}

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
		switch item = strings.TrimSpace(wording.Clean(item)); {
		case item == "":
		case strings.HasPrefix(item, "- ") || strings.HasPrefix(item, "* "): // it is a list
			b.WriteString(item + "\n")
		default:
			b.WriteString("- " + strings.ReplaceAll(item, "\n", "\n  ") + "\n")
		}
	}
	return b.String()
}
