package wording

import (
	"regexp"
	"sync"
)

// Pattern returns a function that returns an expression, which is compiled when it is used first. It may be
// called at the same time from several goroutines, and panics where the expression is wrong. Most processes of
// codeloops use few of those that there are.
func Pattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
