package config

import (
	"slices"
	"strings"

	"codeloops/internal/wording"
)

// variablePrefix begins the name of every variable that sets a key.
const variablePrefix = "CODELOOPS_"

// byVariable returns the setting that a variable sets.
func (s schema) byVariable(name string) (setting, bool) {
	i := slices.IndexFunc(s, func(known setting) bool { return known.scalar() && known.variable() == name })
	if i < 0 {
		return setting{}, false
	}
	return s[i], true
}

// suspect reports a variable with the prefix that sets no key, if it looks like a typo.
// Other variables are fine: codeloops itself sets some for its agents, and other programs
// may use the prefix.
func (s schema) suspect(name string) Errors {
	var known []string
	for _, candidate := range s {
		if candidate.named() {
			continue
		}
		if !candidate.scalar() && candidate.variable() == name {
			return Errors{{
				Key:     candidate.key,
				Problem: name + " cannot be set: " + candidate.key + " is a list",
				Hint:    "write it in a configuration file",
			}}
		}
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
