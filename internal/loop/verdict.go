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

// Escalate is the word of a verdict that hands the work to a person.
const Escalate = "ESCALATE"

// A Verdict is a critic's reply, parsed. Fields that the reply does not hold
// are zero, and nil for numbers.
type Verdict struct {
	Decision Decision
	Rating
	Summary  string
	Feedback string
	Analysis string
	Recovery string
	Issues   []string

	// Escalation, when not empty, is the critic's reason for handing the work
	// to a person; the run ends with it, whatever Decision says.
	Escalation      string
	Risks           []Risk
	RequiredChanges []string
	// Answers say what has become of the findings of earlier reviews.
	Answers []Answer
}

// A Rating is what a critic says of the work on a scale.
type Rating struct {
	Confidence *float64 // in its verdict, 0 to 1; recorded, never steers
	Score      *float64 // 0 to 1
	Severity   string   // of what it found
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

// Word is what the verdict comes to in one word, for people.
func (v Verdict) Word() string {
	if v.Escalation != "" {
		return Escalate
	}
	return string(v.Decision)
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
	Step      Step   // of the critic's turn
	ID        string // names the critic's turn; see [Turn.ID]
	Task      string
	Attempt   Attempt
	Change    Change
	// Delta is this iteration's own part of the change: what differs from the
	// state that the iteration before it left.
	Delta      Change
	Inspection Inspection
	Checks     []CheckResult
	History    []Round // the earlier iterations, oldest first
	// Objection is set when the critic is asked again because its last reply
	// could not be used.
	Objection *Objection
	// Opinions are what others say of the matter, who are asked about it, too.
	Opinions []Opinion
}

// An Opinion is what somebody else says, who is asked about the same.
type Opinion struct {
	Who  string
	Says string
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
	// Written is what the critic wrote in its view of the work tree. A DONE on files that
	// it changed is no verdict on the work.
	Written Written
	// Stale is what had changed in the work tree when the critic had decided DONE on it.
	// Such a verdict is none; the next iteration judges the work again.
	Stale []string
	// Votes are those of the members of a panel, whose verdict this is.
	Votes []Vote
}

// meddled takes back a DONE on what the critic has changed.
func (r *Review) meddled() {
	switch files := r.Written.Files(); {
	case len(files) > 0:
		r.Problem = "the critic decides DONE on files that it had changed in its view, which are thrown away: judge the work tree as it is, " +
			"and leave what git does not ignore as it is. Changed was " + listed(files)
	case len(r.Written.Settings) > 0:
		r.Problem = "what git goes by was changed in the critic's view, and may have shown it something else: leave that as it is, " +
			"and decide again. Changed was " + listed(r.Written.Settings)
	default:
		return
	}
	r.Unmentioned = nil
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
	Iteration int
	Attempt   Attempt
	Change    Change
	// Own is this iteration's own part of the change; nil in the first one, where it is all
	// of it, and in logs of earlier versions.
	Own        *Change
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
	r.Change.Files, r.Own = files, nil
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
	return r.Verdict.Decision == Done || !r.Unjudged && r.Review.Problem != "" && r.Verdict.Decision == Error
}

// JudgedAgain reports whether the next iteration of the same run judges the work of this
// one again, without a turn of the actor.
func (r Round) JudgedAgain() bool { return len(r.Review.Stale) > 0 && r.Verdict.Decision == Error }
