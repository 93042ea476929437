// Package limits holds the rules on what an actor may change in a work tree.
//
// Each rule is a [policy.Inspector] of the change since the session began, or of the change
// in the iteration. Rules use patches, sizes and the work tree as the actor left it, so that
// a resumed run has the same result.
package limits

import (
	"slices"

	"codeloops/internal/loop"
	"codeloops/internal/policy/tamper"
	"codeloops/internal/wording"
)

// paths returns the paths of a change without duplicates.
func paths(c loop.Change) []string {
	var all []string
	for _, f := range c.Files {
		all = append(all, f.Path)
	}
	return slices.Compact(all) // a change of type has two entries
}

// listed names a few paths and counts the rest.
func listed(names []string) string {
	texts := make([]string, len(names))
	for i, n := range names {
		texts[i] = quote(n)
	}
	return few(texts)
}

func quote(name string) string { return tamper.Quote(name, 160) }

// few joins the first of some texts, and counts the rest.
func few(texts []string) string { return wording.List(texts, 8) }
