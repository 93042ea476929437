package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// limits are the keys of [policy] on what an actor may change. A file from
// strangers could take them back, or forbid everything: it needs trust for
// either.
func limits() schema {
	return schema{
		{
			key: "policy.tamper", value: choice("off", "report", "block"), byDefault: "report",
			doc: "Tests that were removed, skipped or weakened, expectations that were changed,\nand changes of CI, of what runs the tests and of linters: \"report\" lists them\nfor the critic and for you, \"block\" makes them break a rule.",
		}, {
			key: "policy.allow_paths", value: list(pathPattern), byDefault: []string{},
			doc: "Globs of the paths that may be changed, as in [\"src/**\", \"**/*.md\"]; [] is all.\nPaths begin at the repository's root; a directory stands for all below it.",
		}, {
			key: "policy.deny_paths", value: list(pathPattern), byDefault: []string{},
			doc: "Globs of the paths that may not.",
		}, {
			key: "policy.deny_phrases", value: list(notBlank), byDefault: []string{},
			doc: "What may not be written: [\"console.log\", \"all tests pass\"]. Whole words, in any\ncase; what stood there before may stay.",
		}, {
			key: "policy.max_files", value: count(0), byDefault: 0,
			doc: "The most files that may differ from the start of the session; 0 is no limit.",
		}, {
			key: "policy.max_lines", value: count(0), byDefault: 0,
			doc: "The most lines added and removed, together; 0 is no limit.",
		}, {
			key: "policy.max_bytes", value: size(0), byDefault: Size(0),
			doc: "The most bytes in those lines, and in binary files; 0 is no limit.",
		}, {
			key: "policy.max_growth", value: percent, byDefault: 0.0,
			doc: "By how many percent of its size an iteration, from the second on, may make the\nwork larger; 0.0 is no limit.",
		}, {
			key: "policy.min_similarity", value: fraction, byDefault: 0.0,
			doc: "How much, from 0 to 1, of a file that the actor had worked on must be left when\nit changes it again: a patch and no rewrite. 0.0 is no limit.",
		}, {
			key: "policy.no_new_dependencies", value: boolean, byDefault: false,
			doc: "Whether go.mod, package.json, pyproject.toml, Cargo.toml and their like may\nname nothing that they did not name before.",
		},
	}
}

// pathPattern refuses globs that cannot match a path of a repository.
func pathPattern(s string) *fault {
	const hint = `write it like "src/**" or "**/*.md"`
	switch {
	case strings.TrimSpace(s) == "":
		return &fault{problem: "must not be empty", hint: hint}
	case strings.HasPrefix(s, "/"), strings.Contains("/"+s+"/", "/../"):
		return &fault{problem: fmt.Sprintf("must be a path within the repository, not %q", short(s)), hint: hint}
	case strings.HasPrefix(s, "!"):
		return &fault{problem: fmt.Sprintf("cannot be turned around with \"!\", as in %q", short(s)), hint: "use deny_paths for what may not be changed"}
	case !doublestar.ValidatePattern(s):
		return &fault{problem: fmt.Sprintf("must be a glob, not %q", short(s)), hint: hint}
	}
	return nil
}

// percent reads a number from 0.
func percent(raw any) (any, *fault) {
	var n float64
	switch v := raw.(type) {
	case float64:
		n = v
	case int64:
		n = float64(v)
	default:
		s, ok := asText(raw)
		if !ok {
			return nil, &fault{problem: "must be a number of percent, not " + typeName(raw)}
		}
		parsed, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(s, "%")), 64)
		if err != nil {
			return nil, &fault{problem: fmt.Sprintf("must be a number of percent, not %q", short(s)), hint: "write it like 20"}
		}
		n = parsed
	}
	if n < 0 || math.IsNaN(n) || math.IsInf(n, 0) {
		return nil, &fault{problem: fmt.Sprintf("must be a number from 0, but is %v", n)}
	}
	return n, nil
}
