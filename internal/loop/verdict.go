package loop

import (
	"slices"
	"time"
)

// A Decision is the outcome of a critic's verdict.
type Decision string

// The decisions.
const (
	Done     Decision = "DONE"
	Continue Decision = "CONTINUE"
	Error    Decision = "ERROR"
)

// Escalate is the word for a verdict that hands the work to a person.
const Escalate = "ESCALATE"

// A Verdict is a critic's parsed reply. Fields that the reply lacks are zero, and nil for
// numbers.
type Verdict struct {
	Decision Decision `json:"critic_decision,omitzero"`
	Feedback string   `json:"feedback,omitzero"`
	Summary  string   `json:"summary,omitzero"`
	Rating
	Issues   []string `json:"issues,omitempty"`
	Analysis string   `json:"analysis,omitzero"`
	Recovery string   `json:"recovery,omitzero"`

	// Escalation, unless it is empty, is the critic's reason for handing the work to a person; it
	// ends the run whatever Decision says.
	Escalation      string   `json:"escalation,omitzero"`
	Severity        string   `json:"severity,omitzero"` // of its findings
	Risks           []Risk   `json:"risks,omitempty"`
	RequiredChanges []string `json:"required_changes,omitempty"`
	// Answers say what became of the findings of earlier reviews.
	Answers []Answer `json:"answers,omitempty"`
}

// A Rating is a critic's assessment of the work in numbers.
type Rating struct {
	Confidence *float64 `json:"confidence,omitzero"` // in its verdict, 0 to 1; recorded only
	Score      *float64 `json:"score,omitzero"`      // 0 to 1
}

// An Answer says what became of a finding of an earlier review.
type Answer struct {
	ID    string       `json:"id"` // of the finding, or the range of several: "F4-F6"
	State FindingState `json:"state"`
	Why   string       `json:"why,omitzero"` // in the critic's words, "" if it gives no reason
}

// A Risk is a risk that a critic names in a structured reply.
type Risk struct {
	Type   string `json:"type,omitzero"`
	Detail string `json:"detail,omitzero"`
}

// Word is the verdict in one word, for people.
func (v Verdict) Word() string {
	if v.Escalation != "" {
		return Escalate
	}
	return string(v.Decision)
}

// Guidance is what the actor is told in its next turn: the feedback, the recovery suggestion, or
// whatever else in the verdict can help.
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

// Account is the guidance for people and critics, who have to learn what went wrong as well: a recovery alone does not
// say it.
func (v Verdict) Account() string {
	if v.Decision == Error && v.Recovery != "" && v.Analysis != "" {
		return v.Analysis + "\n\n" + v.Recovery
	}
	return v.Guidance()
}

// A Case is what a critic judges.
type Case struct {
	Iteration int
	Step      Step   // of the critic's turn
	ID        string // names the critic's turn; see [Turn.ID]
	Task      string
	Attempt   Attempt
	Change    Change
	// Delta is the part of the change that this iteration made: the difference from the state
	// after the previous one.
	Delta      Change
	Inspection Inspection
	Checks     []CheckResult
	History    []Round // the earlier iterations, oldest first
	// Objection is set when the critic is asked again because its last reply could not be used.
	Objection *Objection
	// Opinions are what other agents that were asked say of the matter.
	Opinions []Opinion
}

// An Opinion is what another agent said in answer to the same question.
type Opinion struct {
	Who  string
	Says string
}

// An Objection says what was wrong with a critic's reply.
type Objection struct {
	Problem string // a sentence
	Reply   string
	Changed string // a patch of what the critic had changed in its view
}

// A Review is one turn of the critic and its result.
type Review struct {
	Turn `json:"-"`
	// Reply is the critic's final text, which the verdict was read from.
	Reply string `json:"-"`
	// Verdict is only valid while Problem is empty.
	Verdict Verdict `json:"-"`
	// Problem says why the turn gave no usable verdict, as a sentence.
	Problem string `json:"critic_problem,omitzero"`
	// Broken is the term of the policy that the reply breaks, if that is the problem.
	Broken string `json:"critic_broken,omitzero"`
	// Seal is the random word that the critic had to repeat with its decision, and Boundary the
	// one around the evidence; "" in logs that are older than these.
	Seal     string `json:"critic_seal,omitzero"`
	Boundary string `json:"critic_boundary,omitzero"`
	// Sealed says whether the decision repeats the seal.
	Sealed Sealed `json:"critic_sealed,omitzero"`
	// SealOnly: a DONE counts only with its seal, because the agent does not tell when an answer
	// was cut off.
	SealOnly bool `json:"critic_seal_only,omitzero"`
	// Quoted: an unsealed DONE appears word for word in the evidence.
	Quoted bool `json:"critic_quoted,omitzero"`
	// Unmentioned are the IDs of open findings that the verdict would end the run without
	// mentioning. A review is rejected once for that.
	Unmentioned []string `json:"critic_unmentioned,omitempty"`
	// Written is what the critic wrote in its view of the work tree, and what was discarded.
	Written Written `json:",embed"`
	// Stale is what had changed in the work tree by the time the critic decided DONE. Such a
	// verdict does not count; the next iteration judges the work again.
	Stale []string `json:"critic_stale,omitempty"`
	// Votes are the votes of a panel, whose verdict this is.
	Votes []Vote `json:"critic_votes,omitempty"`
}

// weigh checks what the review would decide on its own. A verdict that would end the run is queried
// if the critic, or what it ran, has changed what was there: files, or git's settings, which may have
// shown it something else. A strict run refuses it. New files, such as caches and builds, are no matter.
// It is queried as well if none of the critic's tools worked. The doubt is the question, or "".
func (r *Review) weigh(gate Gate, c Case, strict bool) (doubt string) {
	var done bool
	done, r.Unmentioned = gate.Ends(c, *r)
	changed := slices.Concat(r.Written.Changed, r.Written.Settings)
	switch {
	case done && len(changed) == 0 && r.Futile:
		return "it decides DONE, and every tool that it used failed or was denied: it has verified nothing. Try again what the decision needs. If nothing can be run, decide by what can be read. The answer counts"
	case !done || len(changed) == 0:
		return ""
	}
	what := "it decides DONE, and its view was changed, by the critic or by what it ran: " + listed(changed) + ". That is thrown away. "
	if strict {
		r.Problem, r.Unmentioned = what+"Judge the work tree as it is, and change nothing that is there", nil
		return ""
	}
	return what + "Look at the work tree as it is, and decide again: is the task done without these changes? The answer counts"
}

// strict reports whether the run takes nothing on trust.
func (c *course) strict() bool { return c.session.Policy.Profile == ProfileStrict }

// Sealed says whether a decision repeats the seal from its prompt. "" means that there was no
// seal, or no decision.
type Sealed string

// The values of [Sealed].
const (
	SealRight Sealed = "right"
	SealWrong Sealed = "wrong"
	SealNone  Sealed = "none"
)

// A Round is a whole iteration.
type Round struct {
	Iteration int
	Attempt   Attempt
	Change    Change
	// Own is the part of the change that this iteration made; nil in the first iteration, where
	// it is all of it, and in older logs.
	Own        *Change
	Inspection Inspection
	Checks     []CheckResult
	Review     Review
	// Unjudged: the rules ruled on the work without a critic. There is no Review, and there are
	// no Checks.
	Unjudged bool
	// Ruling is what counts for the run: the critic's verdict after the [Gate] has seen it.
	Ruling
	// Failure says why the iteration counts as an error; StopNone if it does not.
	Failure StopReason
	// Duration is that of the whole iteration, Trace its phases in order.
	Duration time.Duration
	Trace    []Phase
}

// Alone returns what the iteration alone changed, given what had changed before it. It reports false
// if that is not known, as in logs of earlier versions.
func (r Round) Alone(before Change) (Change, bool) {
	switch {
	case r.Own != nil:
		return *r.Own, true
	case before.Empty():
		return r.Change, true
	}
	return Change{}, false
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

// Undecided reports whether a session that continues after this round has to have the work judged
// again: the critic's reply gave no verdict, or it was DONE. A DONE that counted is followed by
// the end of the session; any other is not known to have been given under today's rules, on
// today's work, or by a critic at all.
func (r Round) Undecided() bool {
	return r.Verdict.Decision == Done || !r.Unjudged && r.Review.Problem != "" && r.Verdict.Decision == Error
}

// JudgedAgain reports whether the next iteration of the same run judges this work again, without
// a turn of the actor.
func (r Round) JudgedAgain() bool { return len(r.Review.Stale) > 0 && r.Verdict.Decision == Error }
