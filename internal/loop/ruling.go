package loop

import (
	"slices"
	"time"
)

// An Inspection is what the rules of a run find in the actor's work before a
// critic sees it.
type Inspection struct {
	// Concerns go to the critic and to the user; they decide nothing.
	Concerns []Concern
	Audit    Audit
}

// An Audit holds the figures of one iteration's own change: what the work tree
// was before, what it is after, and what was required of it. What is unknown is
// nil.
type Audit struct {
	Before string // the [Change.State] that the actor began with
	After  string // the one that it left

	Files      int
	Insertions int
	Deletions  int
	Bytes      int64    // by which the changed files have grown, or shrunk
	Growth     *float64 // the same in percent of what they were
	Similarity *float64 // 0 to 1: how much of what they were is still there
	Excerpt    string   // the first lines of the change

	Required []Requirement
}

// A Requirement is a change that the critic required by name, looked for in the
// work.
type Requirement struct {
	Text     string // as the critic wrote it
	Enforced bool   // the work keeps it
}

// A Ruling is what the rules of a run make of a verdict.
type Ruling struct {
	Verdict Verdict // what counts for the run
	// Rule names the rule that decided; "" when the critic's verdict stands.
	Rule string
	// Stop, when not StopNone, ends the run after this iteration, and Why is
	// the sentence for a person.
	Stop StopReason
	Why  string
	// Findings are the points raised so far, each under one name in all
	// iterations.
	Findings []Finding
	// Warnings are told to both agents in the next iteration.
	Warnings []string
}

// A Finding is a point that a critic has raised, followed over the iterations.
type Finding struct {
	ID    string
	Text  string
	State FindingState
	Since int // the iteration that raised it first
	// May: the critic says that the task is done without it.
	May bool
	// Check is the command of the check that it is about, "" for none: whether it
	// is settled is for the check to say.
	Check string
}

// Due reports whether a DONE has to say what has become of the finding.
func (f Finding) Due() bool {
	return !f.May && f.Check == "" && f.State != FindingClosed && f.State != FindingWithdrawn
}

// A FindingState says what became of a finding.
type FindingState string

// The states of a finding. One that no critic has called settled is due, whether
// a review raises it again or passes over it.
const (
	FindingNew         FindingState = "new"
	FindingOpen        FindingState = "open" // raised again
	FindingReopened    FindingState = "reopened"
	FindingUnmentioned FindingState = "unmentioned" // neither raised again nor settled
	FindingClosed      FindingState = "closed"
	FindingWithdrawn   FindingState = "withdrawn" // the critic says that it was wrong, and why
)

// Findings returns the findings of a session as its last review left them.
func Findings(history []Round) []Finding {
	for _, round := range slices.Backward(history) {
		if !round.Unjudged {
			return round.Findings
		}
	}
	return nil
}

// Due returns the findings of a session that a DONE has to speak of.
func Due(history []Round) []Finding {
	return slices.DeleteFunc(slices.Clone(Findings(history)), func(f Finding) bool { return !f.Due() })
}

// A Phase is one working state of an iteration, with what it took.
type Phase struct {
	State    State
	Duration time.Duration
	Waited   time.Duration // part of it, for services
	Turns    int           // how often an agent was asked in it
}
