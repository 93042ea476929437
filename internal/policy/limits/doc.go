// Package limits holds the rules on what an actor may change in a work tree.
//
// Each rule is a [policy.Inspector] of the change since the session began, or of the change
// in the iteration. Rules use patches, sizes and the work tree as the actor left it, so that
// a resumed run has the same result.
package limits

import (
	"iter"
	"slices"

	"codeloops/internal/loop"
	"codeloops/internal/policy/tamper"
	"codeloops/internal/wording"
)

// The names of the rules.
const (
	RuleAllowPaths     = "allow_paths"
	RuleDenyPaths      = "deny_paths"
	RuleDenyPhrases    = "deny_phrases"
	RuleMaxFiles       = "max_files"
	RuleMaxLines       = "max_lines"
	RuleMaxBytes       = "max_bytes"
	RuleMaxGrowth      = "max_growth"
	RuleMinSimilarity  = "min_similarity"
	RuleNoDependencies = "no_new_dependencies"
	RuleTamper         = "tamper"
)

// paths returns the paths of a change without duplicates.
func paths(c loop.Change) []string {
	var all []string
	for _, f := range c.Files {
		all = append(all, f.Path)
	}
	return slices.Compact(all) // a change of type has two entries
}

// texts yields the patches of a change by path, followed by those that the diff does not
// show.
func texts(c loop.Change) iter.Seq2[string, string] {
	return func(yield func(path, text string) bool) {
		for _, f := range c.Files {
			if !yield(f.Path, f.Patch) {
				return
			}
		}
		for _, u := range c.Unshown {
			if !yield(u.Path, u.Text) {
				return
			}
		}
	}
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
