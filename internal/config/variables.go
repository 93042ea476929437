package config

import (
	"slices"
	"strings"

	"codeloops/internal/wording"
)

// variablePrefix begins the name of every variable that sets a key.
const variablePrefix = "CODELOOPS_"

// reserved lists what codeloops tells the agents it runs by variables of its
// prefix. A codeloops that one of them starts in turn must pass over them.
func reserved() []string {
	return []string{
		variablePrefix + "ASK",
		variablePrefix + "ITERATION",
		variablePrefix + "ROLE",
		variablePrefix + "SESSION",
		variablePrefix + "STATE",
	}
}

// byVariable returns the setting that a variable sets.
func (s schema) byVariable(name string) (setting, bool) {
	i := slices.IndexFunc(s, func(known setting) bool { return known.scalar() && known.variable() == name })
	if i < 0 {
		return setting{}, false
	}
	return s[i], true
}

// suspect returns what is wrong with a variable of the prefix that sets no
// key. Only a slip of the pen is wrong: the environment is no file of ours,
// and other programs may use the prefix.
func (s schema) suspect(name string) *Error {
	if slices.Contains(reserved(), name) {
		return nil
	}
	var known []string
	for _, candidate := range s {
		if candidate.named() {
			continue
		}
		if !candidate.scalar() && candidate.variable() == name {
			return &Error{
				Key:     candidate.key,
				Problem: name + " cannot be set: " + candidate.key + " is a list",
				Hint:    "write it in a configuration file",
			}
		}
		if candidate.scalar() {
			known = append(known, strings.TrimPrefix(candidate.variable(), variablePrefix))
		}
	}
	best, ok := wording.Nearest(strings.TrimPrefix(name, variablePrefix), known)
	if !ok {
		return nil
	}
	return &Error{Problem: "unknown variable " + name, Hint: didYouMean(variablePrefix + best)}
}
