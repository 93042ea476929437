// Package policy holds the rules that a run must keep, whatever its agents say.
package policy

import (
	"fmt"
	"strings"

	"codeloops/internal/loop"
)

// RuleChecks is the rule that a failing check keeps a run from being done.
const RuleChecks = "checks"

// A Gate is the [loop.Gate] of a run. The zero value lets everything pass. It
// keeps no state and may be shared.
type Gate struct {
	MaxIterations        int     // 0: no limit
	MaxConsecutiveErrors int     // 0: no limit
	MaxCost              float64 // US dollars for all turns; 0: no limit
	MaxTokens            int     // for all turns; 0: no limit
}

var _ loop.Gate = Gate{}

// Stop ends a run that has failed too often in a row or has used its
// iterations. Errors come first: they say more than the limit does.
func (g Gate) Stop(p loop.Progress) (loop.StopReason, string) {
	switch {
	case g.MaxConsecutiveErrors > 0 && p.ConsecutiveErrors >= g.MaxConsecutiveErrors:
		return p.LastFailure, fmt.Sprintf("%d iterations in a row ended in an error, the last one because %s",
			p.ConsecutiveErrors, because(p.LastFailure))
	case g.MaxCost > 0 && p.Spent.CostUSD >= g.MaxCost:
		return loop.StopMaxCost, fmt.Sprintf("the turns have cost $%.2f of $%.2f", p.Spent.CostUSD, g.MaxCost)
	case g.MaxTokens > 0 && p.Spent.Tokens >= int64(g.MaxTokens):
		return loop.StopMaxTokens, fmt.Sprintf("the turns have used %d of %d tokens", p.Spent.Tokens, g.MaxTokens)
	case g.MaxCost > 0 && p.Spent.NoCost != "":
		return loop.StopMaxCost, fmt.Sprintf("max_cost cannot be held: the %s's agent does not report what it costs", p.Spent.NoCost)
	case g.MaxTokens > 0 && p.Spent.NoTokens != "":
		return loop.StopMaxTokens, fmt.Sprintf("max_tokens cannot be held: the %s's agent does not report its tokens", p.Spent.NoTokens)
	case g.MaxIterations > 0 && p.Iterations >= g.MaxIterations:
		return loop.StopMaxIterations, fmt.Sprintf("all %d iterations are used up", g.MaxIterations)
	}
	return loop.StopNone, ""
}

func because(r loop.StopReason) string {
	switch r {
	case loop.StopActorTimeout:
		return "the actor ran into its time limit"
	case loop.StopCriticTimeout:
		return "the critic ran into its time limit"
	case loop.StopOutputLimit:
		return "an agent printed more than max_output"
	case loop.StopNoDecision:
		return "the critic gave no decision"
	case loop.StopNone, loop.StopDone, loop.StopMaxIterations, loop.StopMaxDuration, loop.StopMaxCost, loop.StopMaxTokens,
		loop.StopStuck, loop.StopConsecutiveErrors, loop.StopAgentNotFound, loop.StopAgentAuth, loop.StopAgentRateLimited,
		loop.StopPolicyEscalation, loop.StopInterrupted, loop.StopInternal:
	}
	return "the critic said ERROR, or an agent could not work"
}

// Inspect implements [loop.Gate]. It has no rules on the work itself.
func (g Gate) Inspect(loop.Case) (loop.Inspection, *loop.Ruling) { return loop.Inspection{}, nil }

// Rule turns DONE into CONTINUE while a check fails: a check is evidence, a
// verdict is an opinion. A review without a verdict is an ERROR.
func (g Gate) Rule(c loop.Case, r loop.Review) loop.Ruling {
	v := r.Verdict
	if r.Problem != "" {
		return loop.Ruling{Verdict: loop.Verdict{Decision: loop.Error, Analysis: "The review gave no verdict: " + r.Problem}}
	}
	if v.Decision != loop.Done {
		return loop.Ruling{Verdict: v}
	}
	var failing []string
	for _, check := range c.Checks {
		if !check.Passed() {
			failing = append(failing, fmt.Sprintf("- `%s` %s", check.Command, fate(check)))
		}
	}
	if len(failing) == 0 {
		return loop.Ruling{Verdict: v}
	}
	v.Decision = loop.Continue
	v.Feedback = "The reviewer was content, but these checks do not pass:\n" + strings.Join(failing, "\n")
	return loop.Ruling{Verdict: v, Rule: RuleChecks}
}

func fate(c loop.CheckResult) string {
	if c.Ending == loop.EndTimedOut {
		return fmt.Sprintf("did not end within %s", c.Duration.Round(1e9))
	}
	return fmt.Sprintf("ended with exit code %d", c.ExitCode)
}
