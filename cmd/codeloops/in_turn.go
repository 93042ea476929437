package main

import (
	"maps"
	"slices"

	"codeloops/internal/proc"
)

// inTurn reports whether this process was started in a turn of an agent, or by a
// check. The variable tells an honest one; the other sign is there whatever became
// of the variable.
func (a *app) inTurn() bool { return a.Getenv("CODELOOPS_SESSION") != "" || proc.Kept() }

// usersOwn refuses what a user alone may say, of which some is said, to whoever
// works on the user's behalf.
func (a *app) usersOwn(said map[string]bool) error {
	for _, what := range slices.Sorted(maps.Keys(said)) {
		if said[what] && a.inTurn() {
			return usagef("leave it to the user, outside of the run", "%s is for the user alone, and this is a turn of a running session", what)
		}
	}
	return nil
}
