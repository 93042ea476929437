package config

import (
	"fmt"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// limits are the keys of [policy] on what an actor may change. They need trust, because a
// stranger's file could lift them, or forbid everything.
func limits() schema {
	return schema{
		{key: "policy.tamper", value: choice("off", "report", "block"), byDefault: "report", loosens: lower("off", "report", "block")},
		{key: "policy.allow_paths", value: list(pathPattern), byDefault: []string{}, loosens: allowsMore},
		{key: "policy.deny_paths", value: list(pathPattern), byDefault: []string{}, loosens: lacks},
		{key: "policy.deny_phrases", value: list(notBlank), byDefault: []string{}, loosens: lacks},
		{key: "policy.max_files", value: count(0), byDefault: 0, loosens: moreThanLimit},
		{key: "policy.max_lines", value: count(0), byDefault: 0, loosens: moreThanLimit},
		{key: "policy.max_bytes", value: size(0), byDefault: Size(0), loosens: moreThanLimit},
		{key: "policy.max_growth", value: percent(), byDefault: 0.0, loosens: moreThanLimit},
		{key: "policy.min_similarity", value: fraction(), byDefault: 0.0, loosens: lessOf},
		{key: "policy.no_new_dependencies", value: toggle, byDefault: false, loosens: lower(false, true)},
	}
}

// pathPattern rejects globs that cannot match a path in a repository.
func pathPattern(s string) *fault {
	const hint = `write it like "src/**" or "**/*.md"`
	switch {
	case strings.TrimSpace(s) == "":
		return &fault{problem: "must not be empty", hint: hint}
	case strings.HasPrefix(s, "/"), strings.Contains("/"+s+"/", "/../"):
		return &fault{problem: fmt.Sprintf("must be a path within the repository, not %q", short(s)), hint: hint}
	case strings.HasPrefix(s, "!"):
		return &fault{problem: fmt.Sprintf("cannot be negated with \"!\", as in %q", short(s)), hint: "use deny_paths for what may not be changed"}
	case !doublestar.ValidatePattern(s):
		return &fault{problem: fmt.Sprintf("must be a glob, not %q", short(s)), hint: hint}
	}
	return nil
}
