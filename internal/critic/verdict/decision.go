package verdict

import (
	"cmp"
	"strings"

	"codeloops/internal/loop"
)

// decisionOf reads a line as a decision, "" for none.
func decisionOf(line string) loop.Decision {
	switch d := loop.Decision(strings.ToUpper(trim(line))); {
	case d == loop.Done && !strings.ContainsAny(line, refusing), d == loop.Continue, d == loop.Error, d == loop.Escalate:
		return d
	}
	return ""
}

// refusing are the emoji that say the opposite of a DONE beside them, such as a cross or an empty box.
const refusing = "❌✗✘✖☐☒⬜❎⛔🚫🛑🔴🟡👎⏳🚧❓⚠"

// withDecision sets the decision of a verdict. The reason is its main text if it has none.
func withDecision(v loop.Verdict, word loop.Decision, reason string) loop.Verdict {
	v.Decision = word
	switch word {
	case loop.Done:
		v.Summary = cmp.Or(v.Summary, reason)
	case loop.Continue:
		v.Feedback = cmp.Or(v.Feedback, reason)
	case loop.Error:
		v.Analysis = cmp.Or(v.Analysis, reason)
	case loop.Escalate: // in a verdict it is an ERROR with a reason for a person
		v.Decision = loop.Error
		v.Escalation = cmp.Or(reason, v.Guidance(), NoReason)
	}
	return v
}
