package policy

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"codeloops/internal/loop"
)

// A Budget limits the cost of turns; 0 is no limit.
type Budget struct {
	CostUSD float64
	Tokens  int64
}

// Stop ends a run that has failed too often in a row, or has used up its iterations or a
// budget. Errors come first, because they say more than a limit.
func (g Gate) Stop(p loop.Progress) (loop.StopReason, string) {
	if g.MaxConsecutiveErrors > 0 && p.ConsecutiveErrors >= g.MaxConsecutiveErrors {
		if p.ConsecutiveErrors == 1 {
			return p.LastFailure, "the iteration ended in an error, because " + because(p)
		}
		return p.LastFailure, fmt.Sprintf("%d iterations in a row ended in an error, the last one because %s",
			p.ConsecutiveErrors, because(p))
	}
	if reason, why := g.spent(p); reason != loop.StopNone {
		return reason, why
	}
	if g.MaxIterations > 0 && p.Iterations >= g.MaxIterations && !p.Judges { // judging takes no iteration
		if g.MaxIterations == 1 {
			return loop.StopMaxIterations, "the one iteration is used up"
		}
		return loop.StopMaxIterations, fmt.Sprintf("all %d iterations are used up", g.MaxIterations)
	}
	return loop.StopNone, ""
}

// spent says which budget is used up.
func (g Gate) spent(p loop.Progress) (loop.StopReason, string) {
	for _, part := range []struct {
		budget Budget
		spent  loop.Spent
		whose  string // turns
		key    string // of the configuration
	}{
		{g.Budget, p.Spent.Total(), "the turns", ""},
		{g.ActorBudget, p.Spent.Actor, "the actor's turns", "actor."},
		{g.CriticBudget, p.Spent.Critic, "the critic's turns", "critic."},
	} {
		if reason, why := part.budget.exceeded(part.spent, part.whose, part.key); reason != loop.StopNone {
			return reason, why
		}
	}
	for _, role := range slices.Sorted(maps.Keys(g.RoleBudgets)) {
		if reason, why := g.RoleBudgets[role].exceeded(p.Roles[role], "the "+string(role)+"'s turns", "strategy.roles."+string(role)+"."); reason != loop.StopNone {
			return reason, why
		}
	}
	return loop.StopNone, ""
}

// exceeded also reports a budget whose figure is unknown, as it would never be exceeded.
func (b Budget) exceeded(s loop.Spent, whose, key string) (loop.StopReason, string) {
	switch {
	case b.CostUSD > 0 && s.CostUSD >= b.CostUSD:
		return loop.StopMaxCost, fmt.Sprintf("%s have cost $%.2f of $%.2f%s", whose, s.CostUSD, b.CostUSD, mark(s.CostBasis))
	case b.Tokens > 0 && s.Tokens >= b.Tokens:
		return loop.StopMaxTokens, fmt.Sprintf("%s have used %d of %d tokens%s", whose, s.Tokens, b.Tokens, mark(s.TokensBasis))
	case b.CostUSD > 0 && s.CostBasis == loop.Unknown:
		return loop.StopMaxCost, key + "max_cost cannot be held: an agent does not report what its turns cost, and it has no price_input and price_output"
	case b.Tokens > 0 && s.TokensBasis == loop.Unknown:
		return loop.StopMaxTokens, key + "max_tokens cannot be held: the tokens of a turn are not known"
	}
	return loop.StopNone, ""
}

func mark(b loop.Basis) string {
	if b == loop.Estimated {
		return ", by estimate"
	}
	return ""
}

// because says what went wrong in the last iteration.
func because(p loop.Progress) string {
	const most = 200 // characters, as an agent may have written it
	words := []rune(strings.Join(strings.Fields(p.LastProblem), " "))
	switch {
	case len(words) == 0:
		return failing(p.LastFailure)
	case len(words) > most:
		words = append(words[:most], '…')
	}
	return failing(p.LastFailure) + ": " + string(words)
}

func failing(r loop.StopReason) string {
	if term := r.Violates(); term != "" {
		return "the critic's reply broke the rule " + term
	}
	return cmp.Or(map[loop.StopReason]string{
		loop.StopActorTimeout:  "the actor reached its time limit",
		loop.StopCriticTimeout: "the critic reached its time limit",
		loop.StopOutputLimit:   "an agent printed more than max_output",
		loop.StopNoDecision:    "the critic gave no decision",
	}[r], "the critic said ERROR, or an agent could not work")
}
