package wording

import (
	"regexp"
	"sync"
)

// Pattern returns a function that compiles a regular expression on first use, since most
// processes use few of them. The function panics if the expression is invalid, and is safe for
// concurrent use.
func Pattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
