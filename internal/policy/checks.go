package policy

import (
	"fmt"
	"strings"

	"codeloops/internal/loop"
)

// RuleChecks is the rule that a failing check keeps a run from being done.
const RuleChecks = "checks"

// Checks turns DONE into CONTINUE while a check fails: a check is evidence, a
// verdict is an opinion.
type Checks struct{}

// Name implements [Ruler].
func (Checks) Name() string { return RuleChecks }

// Rule implements [Ruler].
func (Checks) Rule(c loop.Case, _ loop.Review, so loop.Ruling) loop.Ruling {
	if so.Verdict.Decision != loop.Done {
		return so
	}
	var failing []string
	for _, check := range c.Checks {
		if !check.Passed() {
			failing = append(failing, fmt.Sprintf("- `%s` %s", check.Command, fate(check)))
		}
	}
	if len(failing) == 0 {
		return so
	}
	so.Rule = RuleChecks
	so.Verdict.Decision = loop.Continue
	so.Verdict.Feedback = "The reviewer was content, but these checks do not pass:\n" + strings.Join(failing, "\n")
	return so
}

func fate(c loop.CheckResult) string {
	return strings.Join(append([]string{ended(c)}, c.Remarks()...), "; ")
}

func ended(c loop.CheckResult) string {
	switch {
	case c.Ending == loop.EndTimedOut:
		return fmt.Sprintf("did not end within %s", c.Duration.Round(1e9))
	case c.ExitCode < 0:
		return "was ended by a signal"
	}
	return fmt.Sprintf("ended with exit code %d", c.ExitCode)
}
