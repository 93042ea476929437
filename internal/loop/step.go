package loop

import (
	"strconv"
	"strings"
)

// A Step names one move of a run by its way down from the session: "2" is the second
// iteration, "2.critic" the critic's turn in it, "2.critic.2" that turn once more. The
// session itself is "". Names have no dots and no slashes.
type Step string

// Sub returns the step of that name below s.
func (s Step) Sub(name string) Step {
	if s == "" {
		return Step(name)
	}
	return s + "." + Step(name)
}

// Parent returns the step that s is a part of.
func (s Step) Parent() Step {
	if i := strings.LastIndexByte(string(s), '.'); i >= 0 {
		return s[:i]
	}
	return ""
}

// Name returns the last part of the way to s.
func (s Step) Name() string { return string(s[strings.LastIndexByte(string(s), '.')+1:]) }

// ForkPlace is the name of the step of a fork that is a mere place for the step around it.
const ForkPlace = "fork"

// Forks returns the step that a fork is for, where s is the fork's own.
func (s Step) Forks() Step {
	if s.Name() == ForkPlace {
		return s.Parent()
	}
	return s
}

// Iteration returns the number of the iteration that s is a part of, 0 for none.
func (s Step) Iteration() int {
	first, _, _ := strings.Cut(string(s), ".")
	n, err := strconv.Atoi(first)
	if err != nil {
		return 0
	}
	return n
}

// In reports whether s is a part of another step, or that step itself.
func (s Step) In(whole Step) bool {
	return whole == "" || s == whole || strings.HasPrefix(string(s), string(whole)+".")
}

// iterationStep is the step of an iteration.
func iterationStep(n int) Step { return Step(strconv.Itoa(n)) }

// Access says what a turn may do to the work tree. It goes by what the turn is for,
// not by who plays it or in which role.
type Access uint8

// The kinds of access. The zero value is the safe one.
const (
	ReadOnly Access = iota // the turn looks and says: it is guarded, and decides
	Write                  // the turn works in the user's tree
)

// String returns the access in the words of messages.
func (a Access) String() string {
	if a == Write {
		return "write"
	}
	return "read-only"
}
