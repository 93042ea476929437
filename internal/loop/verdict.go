package loop

import "time"

// A Decision is what a critic decides.
type Decision string

// The decisions.
const (
	Done     Decision = "DONE"
	Continue Decision = "CONTINUE"
	Error    Decision = "ERROR"
)

// A Verdict is a critic's reply, parsed. Fields that the reply does not hold
// are zero, and nil for numbers.
type Verdict struct {
	Decision   Decision
	Summary    string
	Confidence *float64 // 0 to 1; recorded, never steers
	Score      *float64 // 0 to 1
	Feedback   string
	Analysis   string
	Recovery   string
	Issues     []string

	// Escalation, when not empty, is the critic's reason for handing the work
	// to a person; the run ends with it, whatever Decision says.
	Escalation      string
	Severity        string
	Risks           []Risk
	RequiredChanges []string
	// Answers say what has become of the findings of earlier reviews.
	Answers []Answer
}

// An Answer is what a critic says of a finding of an earlier review.
type Answer struct {
	ID    string // of the finding, or those of the first and the last of several: "F4-F6"
	State FindingState
	Why   string // in the critic's words, "" for none
}

// A Risk is one that a critic names in a structured reply.
type Risk struct {
	Type   string
	Detail string
}

// Guidance is what the next actor turn is told: the feedback, the recovery
// suggestion, or what else the verdict holds that can help.
func (v Verdict) Guidance() string {
	switch {
	case v.Decision == Error && v.Recovery != "":
		return v.Recovery
	case v.Feedback != "":
		return v.Feedback
	case v.Analysis != "":
		return v.Analysis
	}
	return v.Summary
}

// A Case is what a critic judges.
type Case struct {
	Iteration int
	ID        string // names the critic's turn; see [Turn.ID]
	Task      string
	Attempt   Attempt
	Change    Change
	// Step is this iteration's own part of the change: what differs from the
	// state that the iteration before it left.
	Step       Change
	Inspection Inspection
	Checks     []CheckResult
	History    []Round // the earlier iterations, oldest first
	// Objection is set when the critic is asked again because its last reply
	// could not be used.
	Objection *Objection
}

// An Objection is what was wrong with a critic's reply.
type Objection struct {
	Problem string // a sentence
	Reply   string
}

// A Review is one turn of the critic with what it came to.
type Review struct {
	Turn
	// Reply is the critic's final text, the one that was read for a verdict.
	Reply string
	// Seal is the random word in the prompt that the critic was to repeat where
	// it decides, and Boundary the one around the evidence there; "" in a log
	// from before there were any.
	Seal, Boundary string
	// Sealed is whether what decides repeats the seal.
	Sealed Sealed
	// Quoted: an unsealed DONE stands in the evidence word for word.
	Quoted bool
	// Verdict counts only while Problem is empty.
	Verdict Verdict
	// Problem is a sentence that says why the turn gave no usable verdict.
	Problem string
	// Unmentioned are the findings, by their ID, that the verdict would end the
	// run over without a word on what has become of them. A review is rejected
	// once for it.
	Unmentioned []string
	// Undone are the files that the critic changed in the work tree, and that were
	// put back: a DONE on them is no verdict on the work.
	Undone []string
}

// Sealed says whether a decision repeats the seal of the prompt that asked for
// it. "" is where there was no seal, or no decision.
type Sealed string

// What there can be in the place of a seal.
const (
	SealRight Sealed = "right"
	SealWrong Sealed = "wrong"
	SealNone  Sealed = "none"
)

// A Round is one whole iteration.
type Round struct {
	Iteration  int
	Attempt    Attempt
	Change     Change
	Inspection Inspection
	Checks     []CheckResult
	Review     Review
	// Unjudged: the rules ruled on the work by themselves. There is no Review,
	// and there are no Checks.
	Unjudged bool
	// Ruling is what counts for the run: the critic's verdict, after the
	// [Gate] has seen it.
	Ruling
	// Failure is why the iteration counts as an error, StopNone when it does
	// not.
	Failure StopReason
	// Duration is the whole iteration's, Trace its phases in order.
	Duration time.Duration
	Trace    []Phase
}

// Outline returns the round without the texts of its turns, checks and patches.
func (r Round) Outline() Round {
	r.Attempt.Stdout.Text, r.Attempt.Stderr.Text = "", ""
	r.Review.Stdout.Text, r.Review.Stderr.Text, r.Review.Reply = "", "", ""
	files := make([]FileChange, len(r.Change.Files))
	for i, f := range r.Change.Files {
		f.Patch, f.BinaryPatch = "", ""
		files[i] = f
	}
	r.Change.Files = files
	r.Change.Unshown = named(r.Change.Unshown)
	checks := make([]CheckResult, len(r.Checks))
	for i, c := range r.Checks {
		c.Output.Text = ""
		checks[i] = c
	}
	r.Checks = checks
	return r
}

// Undecided reports whether a session that goes on behind this round has to have
// the work judged again: the critic was asked, and what it replied gave no verdict,
// or it was DONE. A DONE that counted has the end of the session behind it; one
// without is not known to have been given under the rules of today, on the work of
// today, or by a critic at all.
func (r Round) Undecided() bool {
	return !r.Unjudged && (r.Review.Problem != "" && r.Verdict.Decision == Error || r.Verdict.Decision == Done)
}

// Past is what a session had come to when it broke off.
type Past struct {
	// Rounds are the whole iterations, oldest first. Only the last one needs
	// its texts.
	Rounds []Round
	// Attempt is a finished turn of the actor in the iteration after them,
	// still to be judged; nil when there is none.
	Attempt *Attempt
	// Undecided: the work of the last round has had no verdict that stands
	// ([Round.Undecided]), and nobody has been at work since. It is judged again
	// before the actor goes on.
	Undecided bool
	// Ended: the session had come to an end, and shall go on all the same. One
	// that broke off behind a last round that ends it short of success has only
	// that end to write.
	Ended bool
	// Conversation is the one that the actor's last turn was part of, a turn
	// that has to be played again included.
	Conversation Conversation
	// Baseline is what the checks said before the session.
	Baseline []CheckResult
	// Spent is what all turns so far have cost, Attempt among them, and also
	// those that no round holds.
	Spent   Spending
	Seq     int           // of the last event
	Elapsed time.Duration // time spent so far
}
