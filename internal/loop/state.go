package loop

import (
	"errors"
	"fmt"
	"slices"
)

// A State is where a run stands. The zero value is [Start].
type State uint8

// The states of a run. Ended can follow any other state: a run can be interrupted, fail or hit a
// limit anywhere.
const (
	Start State = iota
	ActorExecuting
	CapturingDiff
	Verifying
	CriticEvaluating
	DecidedDone
	DecidedContinue
	DecidedError
	Ended
)

// ErrTransition reports a transition that is not in the table. It is always a bug in the caller.
var ErrTransition = errors.New("illegal state transition")

// String returns the state's name as the session log spells it.
func (s State) String() string {
	names := [...]string{
		Start:            "START",
		ActorExecuting:   "ACTOR_EXECUTING",
		CapturingDiff:    "CAPTURING_DIFF",
		Verifying:        "VERIFYING",
		CriticEvaluating: "CRITIC_EVALUATING",
		DecidedDone:      "DONE",
		DecidedContinue:  "CONTINUE",
		DecidedError:     "ERROR",
		Ended:            "ENDED",
	}
	if int(s) < len(names) {
		return names[s]
	}
	return fmt.Sprintf("State(%d)", uint8(s))
}

// ParseState is the inverse of [State.String]; ok is false for an unknown name.
func ParseState(name string) (s State, ok bool) {
	for s := Start; s <= Ended; s++ {
		if s.String() == name {
			return s, true
		}
	}
	return Start, false
}

// Next lists the states that may follow s. Ended has none.
func (s State) Next() []State {
	switch s {
	case Start:
		return []State{ActorExecuting, Ended}
	case ActorExecuting:
		return []State{CapturingDiff, Ended}
	case CapturingDiff:
		return []State{Verifying, CriticEvaluating, Ended}
	case Verifying:
		return []State{CriticEvaluating, Ended}
	case CriticEvaluating:
		return []State{DecidedDone, DecidedContinue, DecidedError, Ended}
	case DecidedDone:
		return []State{Ended}
	case DecidedContinue, DecidedError:
		return []State{ActorExecuting, Ended}
	case Ended:
	}
	return nil
}

// A Machine is the state of one run. It only moves along the table in [State.Next]. The zero
// value is at [Start]. It is not safe for concurrent use.
type Machine struct {
	state State
}

// State returns the current state.
func (m *Machine) State() State { return m.state }

// To moves the machine. For a transition that is not in the table it returns [ErrTransition] and
// does not move.
func (m *Machine) To(next State) error {
	if !slices.Contains(m.state.Next(), next) {
		return fmt.Errorf("%w: %v to %v", ErrTransition, m.state, next)
	}
	m.state = next
	return nil
}
