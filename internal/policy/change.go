package policy

import "codeloops/internal/loop"

// RuleChange is the rule that a run which is done has changed something.
const RuleChange = "require_change"

// Change turns DONE into CONTINUE while nothing differs from the start of the
// session, when it is required.
type Change struct{ Required bool }

// Name implements [Ruler].
func (Change) Name() string { return RuleChange }

// Rule implements [Ruler].
func (x Change) Rule(c loop.Case, _ loop.Review, so loop.Ruling) loop.Ruling {
	if !x.Required || so.Verdict.Decision != loop.Done || !c.Change.Empty() {
		return so
	}
	so.Rule = RuleChange
	so.Verdict.Decision = loop.Continue
	so.Verdict.Feedback = "The reviewer was content, but nothing in the work tree has changed since the session began. The task asks for a change: make it."
	return so
}
