package policy

import (
	"cmp"
	"slices"
	"strings"

	"codeloops/internal/loop"
)

// maxTries is how often in a row a rule may be broken: before that the work is sent back,
// and the last time ends the run.
const maxTries = 3

// A Breach is what a rule finds wrong with the work.
type Breach struct {
	// Why is a sentence for people, such as "go.mod was changed".
	Why string
	// Feedback is for the actor when the work is sent back; "" is Why.
	Feedback string
	// Back sends the work back to the actor even if the policy ends the run on breaches.
	Back bool
	// Required are changes that the actor still has to make.
	Required []string

	rule string
}

// answer returns the ruling on all breaches, nil if there are none. A single breach can end
// the run; otherwise the actor is told of all of them at once.
func answer(c loop.Case, broken []Breach) *loop.Ruling {
	if len(broken) == 0 {
		return nil
	}
	so := loop.Ruling{Rule: broken[0].rule, Why: broken[0].Why}
	var back, required []string
	for _, b := range broken {
		tried := b.Back && tries(c.History, b.rule)+1 >= maxTries
		if !b.Back || tried {
			return end(b, tried)
		}
		back, required = append(back, cmp.Or(b.Feedback, b.Why)), append(required, b.Required...)
	}
	so.Verdict = loop.Verdict{Decision: loop.Continue, Feedback: strings.Join(back, "\n\n"), RequiredChanges: required}
	if asked := PendingVerdict(c.History).Guidance(); asked != "" {
		so.Verdict.Feedback += "\n\nWhat the last review asked for is still to be done:\n" + asked
	}
	return &so
}

// end returns the ruling that ends the run.
func end(b Breach, tried bool) *loop.Ruling {
	why := b.Why
	if tried {
		why += ", and the actor did not put it right when told"
	}
	return &loop.Ruling{
		Rule: b.rule, Stop: loop.Violation(b.rule), Why: why,
		Verdict: loop.Verdict{Decision: loop.Error, Analysis: why},
	}
}

// tries returns how often in a row a rule has sent the work back, ignoring other rules that
// did so in between.
func tries(history []loop.Round, rule string) (n int) {
	for _, round := range slices.Backward(history) {
		if !round.Unjudged || round.Stop != loop.StopNone { // after a stop the user has resumed the session
			break
		}
		if round.Rule == rule {
			n++
		}
	}
	return n
}

// PendingVerdict returns the verdict that the actor is working on: the critic's last one, unless
// that asks for nothing.
func PendingVerdict(history []loop.Round) loop.Verdict {
	for _, round := range slices.Backward(history) {
		switch {
		case round.Unjudged:
		case round.Undecided():
			return loop.Verdict{}
		default:
			return round.Verdict
		}
	}
	return loop.Verdict{}
}
