package config

import (
	"strings"

	"codeloops/internal/wording"
)

// variablePrefix begins the name of every variable that sets a key.
const variablePrefix = "CODELOOPS_"

// suspect reports a variable with the prefix that sets no key, if it looks like a typo.
// Other variables are fine: codeloops itself sets some for its agents, and other programs
// may use the prefix.
func (s schema) suspect(name string) Errors {
	var known []string
	for _, candidate := range s {
		if candidate.scalar() {
			known = append(known, strings.TrimPrefix(candidate.variable(), variablePrefix))
		}
	}
	best, ok := wording.Nearest(strings.TrimPrefix(name, variablePrefix), known)
	if !ok {
		return nil
	}
	return Errors{{Problem: "unknown variable " + name, Hint: didYouMean(variablePrefix + best)}}
}
