package loop

import (
	"slices"
	"time"
)

// An Inspection is what the rules of a run notice in the actor's work before a critic sees it.
type Inspection struct {
	// Concerns are shown to the critic and to the user; they decide nothing.
	Concerns []Concern `json:"concerns,omitempty"`
	Audit    Audit     `json:"audit,omitzero"`
}

// An Audit holds figures on one iteration's own change: the work tree before and after, and what
// was required.
type Audit struct {
	Before string `json:"before"` // the [Change.State] at the start of the iteration
	After  string `json:"after"`  // the one at its end

	Files      int    `json:"files"`
	Insertions int    `json:"insertions"`
	Deletions  int    `json:"deletions"`
	Bytes      int64  `json:"bytes"`   // by how much the changed files grew; negative if they shrank
	Excerpt    string `json:"excerpt"` // the first lines of the change

	Required []Requirement `json:"required,omitempty"`
}

// IsZero reports whether there are no figures. Logs without them have no states either.
func (a Audit) IsZero() bool { return a.After == "" }

// A Requirement is a change that the critic required by name, looked up in the work.
type Requirement struct {
	Text     string `json:"text"`     // as the critic wrote it
	Enforced bool   `json:"enforced"` // the work contains it
}

// A Ruling is what the rules of a run decide about a verdict.
type Ruling struct {
	Verdict Verdict `json:"-"` // the verdict that counts for the run
	// Rule names the rule that decided; "": the critic's verdict stands.
	Rule string `json:"rule,omitzero"`
	// Stop, unless it is StopNone, ends the run after this iteration, and Why tells a person the
	// reason.
	Stop StopReason `json:"rule_stop,omitzero"`
	Why  string     `json:"rule_reason,omitzero"`
	// Findings are the points raised so far; each keeps its ID over all iterations.
	Findings []Finding `json:"findings,omitempty"`
	// Warnings are shown to both agents in the next iteration.
	Warnings []string `json:"agent_warnings,omitempty"`
}

// A Finding is a point that a critic has raised, tracked over the iterations.
type Finding struct {
	ID    string       `json:"id"`
	Text  string       `json:"text"`
	State FindingState `json:"state"`
	Since int          `json:"since"` // the iteration that first raised it
	// Check is the command of the check that the finding is about, "" for none; the check itself
	// then shows whether it is settled.
	Check string `json:"check,omitzero"`
	// May: optional, the critic says that the task is done without it.
	May bool `json:"may,omitzero"`
	// Late: the finding is about lines that had not changed since the critic's last look.
	Late bool `json:"late,omitzero"`
}

// Due reports whether a DONE has to mention the finding.
func (f Finding) Due() bool {
	return !f.May && !f.Late && f.Check == "" && !f.State.Over()
}

// Over reports whether a finding in this state needs no more work.
func (s FindingState) Over() bool { return s == FindingClosed || s == FindingWithdrawn }

// Raised reports whether the last review raised the finding.
func (f Finding) Raised() bool {
	return f.State == FindingNew || f.State == FindingOpen || f.State == FindingReopened
}

// A FindingState says what became of a finding.
type FindingState string

// The states of a finding. One that no critic has called settled is due, whether or not a review
// raises it again.
const (
	FindingNew         FindingState = "new"
	FindingOpen        FindingState = "open" // raised again
	FindingReopened    FindingState = "reopened"
	FindingUnmentioned FindingState = "unmentioned" // neither raised again nor settled
	FindingClosed      FindingState = "closed"
	FindingWithdrawn   FindingState = "withdrawn" // the critic withdraws it, with a reason
)

// Findings returns the findings of a session after its last review.
func Findings(history []Round) []Finding {
	for _, round := range slices.Backward(history) {
		if !round.Unjudged {
			return round.Findings
		}
	}
	return nil
}

// Due returns the findings of a session that a DONE has to mention.
func Due(history []Round) []Finding {
	return slices.DeleteFunc(slices.Clone(Findings(history)), func(f Finding) bool { return !f.Due() })
}

// A Phase is one working state of an iteration and the time it took.
type Phase struct {
	State    State         `json:"state"`
	Duration time.Duration `json:"duration_secs"`
	Waited   time.Duration `json:"waited_secs,omitzero"` // the part of it that was spent waiting for services
	Turns    int           `json:"turns,omitzero"`       // agent turns in it
}
