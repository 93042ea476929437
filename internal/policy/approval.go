package policy

import (
	"fmt"
	"strconv"
	"strings"

	"codeloops/internal/loop"
)

// RuleApproval is the rule that the critic's score decides.
const RuleApproval = "approval_threshold"

// Approval refuses a DONE with a low score, or without one. A score never lifts a CONTINUE. The zero
// value decides nothing.
type Approval struct {
	Threshold float64 // 0 to 1; 0: none
	// Strict keeps an unusable reply an ERROR. Otherwise it counts as a score of 0 with
	// the reply as the only issue, so that the loop continues.
	Strict bool
}

// Rule implements [Ruler].
func (a Approval) Rule(_ loop.Case, r loop.Review, so loop.Ruling) loop.Ruling {
	v := so.Verdict
	switch {
	case a.Threshold <= 0 || v.Escalation != "":
		return so
	case r.Problem != "":
		return a.unread(r, so)
	case v.Decision == loop.Done && (v.Score == nil || *v.Score < a.Threshold):
		return a.refuse(so)
	}
	return so
}

// unread converts a reply without a verdict to a score of 0. Turns that were cut off or failed
// have no reply to convert, and a stale verdict is asked for again.
func (a Approval) unread(r loop.Review, so loop.Ruling) loop.Ruling {
	reply := strings.TrimSpace(r.Reply)
	if a.Strict || len(r.Stale) > 0 || reply == "" || r.Ending != loop.EndCompleted || r.ExitCode != 0 {
		return so
	}
	so.Rule = RuleApproval
	so.Verdict = loop.Verdict{
		Decision: loop.Continue, Rating: loop.Rating{Score: new(float64)}, Issues: []string{reply},
		Feedback: "The review breaks the rules on its form, so it approves nothing. It says:\n" + reply,
	}
	return so
}

// refuse turns a DONE whose score is too low or missing into CONTINUE.
func (a Approval) refuse(so loop.Ruling) loop.Ruling {
	v, rated := &so.Verdict, "no score"
	if v.Score != nil {
		rated = "a score of " + score(*v.Score)
	}
	words := fmt.Sprintf("The reviewer approved the work, but gave %s; %s approves.", rated, score(a.Threshold))
	if said := v.Guidance(); len(v.Issues) > 0 {
		words += " What it found:\n- " + strings.Join(v.Issues, "\n- ")
	} else if said != "" {
		words += " It says:\n" + said
	}
	so.Rule, v.Decision, v.Feedback = RuleApproval, loop.Continue, words
	return so
}

func score(n float64) string { return strconv.FormatFloat(n, 'g', 4, 64) }
