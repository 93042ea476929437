package queue

import "slices"

// A State is where a task stands.
type State string

// The states of a task.
const (
	Waiting    State = "waiting"     // for a worker, or for other tasks
	Running    State = "running"     // somebody works on it
	Finished   State = "finished"    // its result waits for the merge
	Merged     State = "merged"      // the target contains its result
	NeedsHuman State = "needs-human" // its result could not be merged, or the critic asks a person
	Failed     State = "failed"      // its run did not end with DONE
	Dead       State = "dead"        // too many workers were lost with it
	Cancelled  State = "cancelled"
)

// States lists all states, in the order in which a task passes through them.
func States() []State {
	return []State{Waiting, Running, Finished, Merged, NeedsHuman, Failed, Dead, Cancelled}
}

// follow is the table of legal transitions. Running follows itself when another worker takes over a lost one's
// task.
func follow(s State) []State {
	switch s {
	case Waiting:
		return []State{Running, Cancelled}
	case Running:
		return []State{Running, Finished, Waiting, Failed, NeedsHuman, Cancelled, Dead}
	case Finished:
		return []State{Merged, Waiting, NeedsHuman, Cancelled}
	case NeedsHuman:
		return []State{Waiting, Finished}
	case Failed, Dead, Cancelled:
		return []State{Waiting}
	case Merged:
	}
	return nil
}

// Over reports whether a task has ended. A task with --no-merge ends as [Finished], which is not over.
func (s State) Over() bool {
	return slices.Contains([]State{Merged, NeedsHuman, Failed, Dead, Cancelled}, s)
}

// Busy reports whether a task has begun and is not over.
func (s State) Busy() bool { return s == Running || s == Finished }
