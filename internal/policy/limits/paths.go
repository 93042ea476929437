package limits

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"codeloops/internal/loop"
	"codeloops/internal/policy"
)

// AllowPaths allows changes only of paths that one of the patterns matches. It also applies
// to files that became hidden, except caches. Without patterns there is no limit.
type AllowPaths []string

// Inspect implements [policy.Inspector].
func (a AllowPaths) Inspect(c loop.Case, _ *loop.Inspection) *policy.Breach {
	outside := touched(c.Change, func(u loop.Unshown) bool { return u.Why != loop.HiddenCache && u.Why != loop.IgnoredSettings })
	outside = slices.DeleteFunc(outside, func(path string) bool { return matches(a, path) })
	if len(a) == 0 || len(outside) == 0 {
		return nil
	}
	return &policy.Breach{
		Why: "only " + listed(a) + " may be changed, but so was " + listed(outside),
		Feedback: fmt.Sprintf("Only these paths may be changed: %s. Put these back as they were, or remove them: %s. Do the task without changing them.",
			listed(a), listed(outside)),
	}
}

// DenyPaths forbids changes of paths that one of the patterns matches, even if the diff does
// not show them.
type DenyPaths []string

// Inspect implements [policy.Inspector].
func (d DenyPaths) Inspect(c loop.Case, _ *loop.Inspection) *policy.Breach {
	within := touched(c.Change, func(loop.Unshown) bool { return true })
	within = slices.DeleteFunc(within, func(path string) bool { return !matches(d, path) })
	if len(within) == 0 {
		return nil
	}
	return &policy.Breach{
		Why: listed(within) + " was changed and must not be",
		Feedback: fmt.Sprintf("These paths may not be changed: %s. Put these back as they were, or remove them: %s. Do the task without changing them.",
			listed(d), listed(within)),
	}
}

// touched returns the paths of a change, and those that the diff does not show and that count,
// without duplicates. What a sparse checkout leaves out is not changed.
func touched(c loop.Change, counts func(loop.Unshown) bool) []string {
	all := paths(c)
	for _, u := range c.Unshown {
		if u.Why != loop.CutOut && counts(u) {
			all = append(all, u.Path)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// matches reports whether one of the patterns matches a path or a directory above it. "**"
// matches any number of directories, "*" anything without a slash, and {a,b} either of the
// two.
func matches(patterns []string, path string) bool {
	path = strings.TrimSuffix(path, "/")
	return slices.ContainsFunc(patterns, func(p string) bool {
		p = strings.TrimSuffix(strings.TrimPrefix(p, "./"), "/")
		return doublestar.MatchUnvalidated(p, path) || doublestar.MatchUnvalidated(p+"/**", path)
	})
}
