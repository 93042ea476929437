package scripted

import (
	"context"
	"slices"
	"strings"
)

// A step is one thing that the agent does in a turn.
type step func(context.Context, *player) error

// An action is one kind of step: its key, and how to read a table with that key.
type action struct {
	key  string
	read func(*table) step
}

// actions lists all kinds of step, in the order of the documentation.
func actions() []action {
	return slices.Concat(fileActions(), processActions(), outputActions(), timeActions())
}

// readStep reads a step, whose table must name exactly one action. It returns nil only
// after it has noted an error.
func readStep(t *table) step {
	var keys []string
	var found *action
	for _, a := range actions() {
		keys = append(keys, a.key)
		switch {
		case !t.has(a.key):
		case found != nil:
			t.failf(a.key, "a step does one thing: either %s or %s", found.key, a.key)
			return nil
		default:
			found = &a
		}
	}
	if found == nil {
		t.failf("", "a step needs one of %s", strings.Join(keys, ", "))
		return nil
	}
	s := found.read(t)
	t.done("a " + found.key + " step")
	return s
}

// must reads the value of an action that has no value but true.
func must(t *table, key string) {
	if !t.flag(key, true) {
		t.failf(key, "%s can only be true; leave the step out instead", key)
	}
}
