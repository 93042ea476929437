package policy

import (
	"fmt"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/policy/convergence"
)

// Rulers returns the rules on verdicts for a policy, in the order in which they apply: first
// the score, because it may produce a DONE that a failing check then refuses; the findings
// after all other objections; last the rules that may end the run whatever the others
// decided. Disabled rules are included, so that tests can compare the list with the
// documentation.
func Rulers(p loop.Policy) []Ruler {
	return []Ruler{
		Approval{Threshold: p.Threshold(), Strict: p.Critique != nil},
		Late{Convergence: p.Convergence, Prolong: p.LateFindings},
		Checks{},
		RequireChange{Required: p.RequireChange},
		Findings{Convergence: p.Convergence, Mode: p.OpenFindings},
		AutoRevise{Denied: p.NoAutoRevise},
		Convergence{p.Convergence},
	}
}

// RuleChecks is the rule that a run is not done while a check fails.
const RuleChecks = "checks"

// Checks turns DONE into CONTINUE while a check fails: a check is evidence, and a verdict is
// an opinion.
type Checks struct{}

// Rule implements [Ruler].
func (Checks) Rule(c loop.Case, _ loop.Review, so loop.Ruling) loop.Ruling {
	if so.Verdict.Decision != loop.Done {
		return so
	}
	var failing []string
	for _, check := range c.Checks {
		switch {
		case check.Passed():
		case check.Witness != "":
			failing = append(failing, fmt.Sprintf("- `%s` found %s", check.Command, check.Witness))
		default:
			failing = append(failing, fmt.Sprintf("- `%s` %s", check.Command, fate(check)))
		}
	}
	if len(failing) == 0 {
		return so
	}
	so.Rule = RuleChecks
	so.Verdict.Decision = loop.Continue
	so.Verdict.Feedback = "The reviewer approved the work, but these checks fail:\n" + strings.Join(failing, "\n")
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

// RuleChange is the rule that a run is not done before it has changed something.
const RuleChange = "require_change"

// RequireChange turns DONE into CONTINUE, if a change is required and nothing differs from
// the start of the session.
type RequireChange struct{ Required bool }

// Rule implements [Ruler].
func (x RequireChange) Rule(c loop.Case, _ loop.Review, so loop.Ruling) loop.Ruling {
	if !x.Required || so.Verdict.Decision != loop.Done || !c.Change.Empty() {
		return so
	}
	so.Rule = RuleChange
	so.Verdict.Decision = loop.Continue
	so.Verdict.Feedback = "The reviewer approved the work, but nothing in the work tree has changed since the session began. The task asks for a change: make it."
	return so
}

// RuleAutoRevise is the rule that the actor does not revise the work by itself.
const RuleAutoRevise = "auto_revise"

// AutoRevise ends a run, if revisions are denied, whose verdict would send the work back to
// the actor. A DONE and an escalation pass, and so does a stale DONE, which the critic has to
// repeat.
type AutoRevise struct{ Denied bool }

// Rule implements [Ruler].
func (a AutoRevise) Rule(_ loop.Case, r loop.Review, so loop.Ruling) loop.Ruling {
	if !a.Denied || so.Verdict.Decision == loop.Done || so.Verdict.Escalation != "" || len(r.Stale) > 0 {
		return so
	}
	so.Rule, so.Stop = RuleAutoRevise, loop.Violation(RuleAutoRevise)
	so.Why = "the work is not done (" + string(so.Verdict.Decision) + "), and auto_revise = false keeps the actor from working on it again"
	if said := so.Verdict.Guidance(); said != "" {
		so.Why += ": " + said
	}
	return so
}

// look looks at the rounds of a session, of which the last one is a case with its ruling so far.
func look(p *loop.ConvergencePolicy, c loop.Case, r loop.Review, so loop.Ruling) convergence.Report {
	return convergence.Look(p, c.History, loop.Round{
		Iteration: c.Iteration, Attempt: c.Attempt, Change: c.Change, Own: own(c), Inspection: c.Inspection, Checks: c.Checks, Review: r, Ruling: so,
	})
}

// own returns what an iteration changed, nil in the first one.
func own(c loop.Case) *loop.Change {
	if len(c.History) == 0 {
		return nil
	}
	return &c.Delta
}

// RuleConvergence is the rule that a loop must make progress.
const RuleConvergence = convergence.Rule

// Convergence warns both agents when the loop makes no progress, and ends the run if that
// does not help.
type Convergence struct{ Policy *loop.ConvergencePolicy }

// Rule implements [Ruler].
func (v Convergence) Rule(c loop.Case, r loop.Review, so loop.Ruling) loop.Ruling {
	report := look(v.Policy, c, r, so)
	so.Warnings = append(so.Warnings, report.Warnings...)
	if report.Stuck != "" {
		so.Rule, so.Stop, so.Why = RuleConvergence, loop.StopStuck, report.Stuck
	}
	return so
}
