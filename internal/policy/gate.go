// Package policy holds the rules that a run must keep, whatever its agents say.
package policy

import (
	"fmt"

	"codeloops/internal/loop"
)

// A Gate is the [loop.Gate] of a run: its limits, and its rules one after the
// other. The zero value lets everything pass. It keeps no state of its own: what
// a rule has to know of earlier iterations stands in the case, so that a run that
// is carried on or played back comes to the same. It may be shared as far as its
// rules may.
type Gate struct {
	MaxIterations        int     // 0: no limit
	MaxConsecutiveErrors int     // 0: no limit
	MaxCost              float64 // US dollars for all turns; 0: no limit
	MaxTokens            int     // for all turns; 0: no limit

	// Inspectors look at the work, all of them, in this order. The first one
	// whose rule is broken names the ruling.
	Inspectors []Inspector
	// Rulers weigh the critic's verdict, one on top of the other, in this order,
	// until one of them ends the run.
	Rulers []Ruler
	// Revise sends work that breaks a rule back to the actor instead of ending
	// the run, as long as [MaxTries] allows.
	Revise bool
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

// An Inspector is a rule on the actor's work. It keeps no state.
type Inspector interface {
	// Name is the rule's, as the policy and a stop reason spell it.
	Name() string
	// Inspect looks at the work before a critic does. It may add to what was
	// found so far; nil is work that keeps the rule.
	Inspect(c loop.Case, found *loop.Inspection) *Breach
}

// A Ruler is a rule on what a critic's verdict is worth. It keeps no state.
type Ruler interface {
	// Name is the rule's, as the policy and a stop reason spell it.
	Name() string
	// Rule returns the ruling that stands after this rule, so far being the one
	// that stood before it. A rule that decides puts its name into it.
	Rule(c loop.Case, r loop.Review, so loop.Ruling) loop.Ruling
}

// Rules returns the names of the gate's rules, in the order in which they apply.
func (g Gate) Rules() []string {
	var names []string
	for _, i := range g.Inspectors {
		names = append(names, i.Name())
	}
	for _, r := range g.Rulers {
		names = append(names, r.Name())
	}
	return names
}

// Inspect lets every inspector look at the work. A rule that is broken ends the
// run or sends the work back.
func (g Gate) Inspect(c loop.Case) (found loop.Inspection, ruling *loop.Ruling) {
	var broken []Breach
	for _, i := range g.Inspectors {
		if b := i.Inspect(c, &found); b != nil {
			b.rule = i.Name()
			b.Back = b.Back || g.Revise
			broken = append(broken, *b)
		}
	}
	return found, answer(c, broken)
}

// Rule lets every ruler weigh the verdict. A review without a verdict is an
// ERROR, unless a rule makes more of it.
func (g Gate) Rule(c loop.Case, r loop.Review) loop.Ruling {
	so := loop.Ruling{Verdict: r.Verdict}
	if r.Problem != "" {
		so.Verdict = loop.Verdict{Decision: loop.Error, Analysis: "The review gave no verdict: " + r.Problem}
	}
	for _, ruler := range g.Rulers {
		if so = ruler.Rule(c, r, so); so.Stop != loop.StopNone {
			break
		}
	}
	return so
}
