package loop

import (
	"strconv"
	"strings"
)

// A Step is the path of one step of a run: "2" is the second iteration, "2.critic" the critic's
// turn in it, "2.critic.2" its second try. The session itself is "". Names contain no dots and no
// slashes.
type Step string

// Sub returns the step with that name below s.
func (s Step) Sub(name string) Step {
	if s == "" {
		return Step(name)
	}
	return s + "." + Step(name)
}

// Parent returns the step that s is part of.
func (s Step) Parent() Step {
	if i := strings.LastIndexByte(string(s), '.'); i >= 0 {
		return s[:i]
	}
	return ""
}

// Name returns the last element of the path.
func (s Step) Name() string { return string(s[strings.LastIndexByte(string(s), '.')+1:]) }

// ForkPlace is the step name of a fork that only serves the step around it.
const ForkPlace = "fork"

// Forks returns the step that a fork is for, given the fork's own step.
func (s Step) Forks() Step {
	if s.Name() == ForkPlace {
		return s.Parent()
	}
	return s
}

// Iteration returns the number of the iteration that s is part of, 0 for none.
func (s Step) Iteration() int {
	first, _, _ := strings.Cut(string(s), ".")
	n, err := strconv.Atoi(first)
	if err != nil {
		return 0
	}
	return n
}

// In reports whether s is whole, or a part of it.
func (s Step) In(whole Step) bool {
	return whole == "" || s == whole || strings.HasPrefix(string(s), string(whole)+".")
}

func iterationStep(n int) Step { return Step(strconv.Itoa(n)) }

// Access says what a turn may do to the work tree. It depends on the purpose of the turn, not on
// its role or agent.
type Access uint8

// The kinds of access. The zero value is the safe one.
const (
	ReadOnly Access = iota // the turn only looks: it is guarded, and may decide
	Write                  // the turn works in the user's tree
)

// String returns the access as messages spell it.
func (a Access) String() string {
	if a == Write {
		return "write"
	}
	return "read-only"
}
