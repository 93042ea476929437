package verdict

import (
	"regexp"
	"sync"
)

// lazily returns an expression that is compiled when it is used first: most processes
// of codeloops, such as those that keep an agent, read no reply.
func lazily(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
