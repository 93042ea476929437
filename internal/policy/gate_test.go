package policy_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/policy"
)

func spends(actor, critic loop.Spent) loop.Progress {
	return loop.Progress{Spent: loop.Spending{Actor: actor, Critic: critic}}
}

func TestStop(t *testing.T) {
	t.Parallel()
	gate := policy.Gate{MaxIterations: 5, MaxConsecutiveErrors: 3}
	for name, c := range map[string]struct {
		gate     policy.Gate
		progress loop.Progress
		reason   loop.StopReason
		why      string
	}{
		"fresh":           {gate, loop.Progress{}, loop.StopNone, ""},
		"under way":       {gate, loop.Progress{Iterations: 4, ConsecutiveErrors: 2}, loop.StopNone, ""},
		"limit":           {gate, loop.Progress{Iterations: 5}, loop.StopMaxIterations, "all 5 iterations are used up"},
		"limit of one":    {policy.Gate{MaxIterations: 1}, loop.Progress{Iterations: 1}, loop.StopMaxIterations, "the one iteration is used up"},
		"errors":          {gate, loop.Progress{Iterations: 3, ConsecutiveErrors: 3, LastFailure: loop.StopActorTimeout}, loop.StopActorTimeout, "3 iterations in a row ended in an error, the last one because the actor reached its time limit"},
		"errors, told":    {gate, loop.Progress{ConsecutiveErrors: 3, LastFailure: loop.StopNoDecision, LastProblem: "the reply\n is empty"}, loop.StopNoDecision, "3 iterations in a row ended in an error, the last one because the critic gave no decision: the reply is empty"},
		"one, at length":  {policy.Gate{MaxConsecutiveErrors: 1}, loop.Progress{ConsecutiveErrors: 1, LastFailure: loop.StopConsecutiveErrors, LastProblem: strings.Repeat("é", 201)}, loop.StopConsecutiveErrors, "the iteration ended in an error, because the critic said ERROR, or an agent could not work: " + strings.Repeat("é", 200) + "…"},
		"errors first":    {gate, loop.Progress{Iterations: 5, ConsecutiveErrors: 3, LastFailure: loop.StopNoDecision}, loop.StopNoDecision, "3 iterations in a row ended in an error, the last one because the critic gave no decision"},
		"cost":            {policy.Gate{Budget: policy.Budget{CostUSD: 2}}, spends(loop.Spent{CostUSD: 1}, loop.Spent{CostUSD: 1.5}), loop.StopMaxCost, "the turns have cost $2.50 of $2.00"},
		"below cost":      {policy.Gate{Budget: policy.Budget{CostUSD: 2}}, spends(loop.Spent{CostUSD: 1.9, TokensBasis: loop.Unknown}, loop.Spent{}), loop.StopNone, ""},
		"tokens":          {policy.Gate{Budget: policy.Budget{Tokens: 10}}, spends(loop.Spent{Tokens: 9, CostBasis: loop.Unknown}, loop.Spent{Tokens: 1}), loop.StopMaxTokens, "the turns have used 10 of 10 tokens"},
		"estimated":       {policy.Gate{Budget: policy.Budget{Tokens: 10}}, spends(loop.Spent{Tokens: 9, TokensBasis: loop.Reported}, loop.Spent{Tokens: 9, TokensBasis: loop.Estimated}), loop.StopMaxTokens, "the turns have used 18 of 10 tokens, by estimate"},
		"actor's tokens":  {policy.Gate{ActorBudget: policy.Budget{Tokens: 10}}, spends(loop.Spent{Tokens: 11}, loop.Spent{}), loop.StopMaxTokens, "the actor's turns have used 11 of 10 tokens"},
		"not the actor's": {policy.Gate{ActorBudget: policy.Budget{Tokens: 10, CostUSD: 1}}, spends(loop.Spent{Tokens: 9}, loop.Spent{Tokens: 11, CostUSD: 2, CostBasis: loop.Unknown}), loop.StopNone, ""},
		"critic's cost":   {policy.Gate{CriticBudget: policy.Budget{CostUSD: 1}}, spends(loop.Spent{CostUSD: 0.5}, loop.Spent{CostUSD: 1, CostBasis: loop.Estimated}), loop.StopMaxCost, "the critic's turns have cost $1.00 of $1.00, by estimate"},
		"no cost told":    {policy.Gate{Budget: policy.Budget{CostUSD: 2}}, spends(loop.Spent{CostBasis: loop.Unknown}, loop.Spent{}), loop.StopMaxCost, "max_cost cannot be held: an agent does not report what its turns cost, and it has no price_input and price_output"},
		"no tokens told":  {policy.Gate{CriticBudget: policy.Budget{Tokens: 10}}, spends(loop.Spent{}, loop.Spent{TokensBasis: loop.Unknown}), loop.StopMaxTokens, "critic.max_tokens cannot be held: the tokens of a turn are not known"},
		"no limits":       {policy.Gate{}, loop.Progress{Iterations: 1000, ConsecutiveErrors: 1000}, loop.StopNone, ""},
		"judged":          {gate, loop.Progress{Iterations: 5, Judges: true}, loop.StopNone, ""},
		"critic's turn":   {gate, loop.Progress{Iterations: 4, Judges: true}, loop.StopNone, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if reason, why := c.gate.Stop(c.progress); reason != c.reason || why != c.why {
				t.Errorf("got %q, %q; want %q, %q", reason, why, c.reason, c.why)
			}
		})
	}
}

// TestEveryLimitMatters: each limit of a gate ends a run that goes on without it. A new limit fails here until it
// has a case.
func TestEveryLimitMatters(t *testing.T) {
	t.Parallel()
	spent := loop.Spent{CostUSD: 5, Tokens: 5}
	cases := map[string]struct {
		gate     policy.Gate
		progress loop.Progress
	}{
		"MaxIterations":        {policy.Gate{MaxIterations: 5}, loop.Progress{Iterations: 5}},
		"MaxConsecutiveErrors": {policy.Gate{MaxConsecutiveErrors: 2}, loop.Progress{ConsecutiveErrors: 2, LastFailure: loop.StopNoDecision}},
		"Budget.CostUSD":       {policy.Gate{Budget: policy.Budget{CostUSD: 5}}, spends(spent, loop.Spent{})},
		"Budget.Tokens":        {policy.Gate{Budget: policy.Budget{Tokens: 5}}, spends(spent, loop.Spent{})},
		"ActorBudget.CostUSD":  {policy.Gate{ActorBudget: policy.Budget{CostUSD: 5}}, spends(spent, loop.Spent{})},
		"ActorBudget.Tokens":   {policy.Gate{ActorBudget: policy.Budget{Tokens: 5}}, spends(spent, loop.Spent{})},
		"CriticBudget.CostUSD": {policy.Gate{CriticBudget: policy.Budget{CostUSD: 5}}, spends(loop.Spent{}, spent)},
		"CriticBudget.Tokens":  {policy.Gate{CriticBudget: policy.Budget{Tokens: 5}}, spends(loop.Spent{}, spent)},
	}
	var names []string
	for f := range reflect.TypeFor[policy.Gate]().Fields() {
		switch f.Type {
		case reflect.TypeFor[int]():
			names = append(names, f.Name)
		case reflect.TypeFor[policy.Budget]():
			names = append(names, f.Name+".CostUSD", f.Name+".Tokens")
		}
	}
	for _, name := range names {
		c := cases[name]
		if reason, _ := c.gate.Stop(c.progress); reason == loop.StopNone {
			t.Errorf("%s ends nothing", name)
		}
		if reason, why := (policy.Gate{}).Stop(c.progress); reason != loop.StopNone {
			t.Errorf("without %s: %s, %s", name, reason, why)
		}
	}
	if len(cases) != len(names) {
		t.Errorf("%d cases for %d limits", len(cases), len(names))
	}
}

// A DONE with failing checks becomes CONTINUE, with the checks as feedback.
func TestChecks(t *testing.T) {
	t.Parallel()
	passing := loop.CheckResult{Command: "true", Ending: loop.EndCompleted}
	failing := loop.CheckResult{Command: "go test ./...", Ending: loop.EndFailed, ExitCode: 1}
	slow := loop.CheckResult{Command: "make", Ending: loop.EndTimedOut, ExitCode: -1, Duration: 90 * time.Second}
	killed := loop.CheckResult{Command: "make", Ending: loop.EndFailed, ExitCode: -1}
	done := loop.Verdict{Decision: loop.Done, Summary: "fine"}
	more := loop.Verdict{Decision: loop.Continue, Feedback: "more"}

	for name, c := range map[string]struct {
		checks   []loop.CheckResult
		verdict  loop.Verdict
		decision loop.Decision
		feedback string
	}{
		"no checks":  {nil, done, loop.Done, ""},
		"all pass":   {[]loop.CheckResult{passing, passing}, done, loop.Done, ""},
		"one killed": {[]loop.CheckResult{killed}, done, loop.Continue, "The reviewer approved the work, but these checks fail:\n- `make` was ended by a signal"},
		"some fail":  {[]loop.CheckResult{passing, failing, slow}, done, loop.Continue, "The reviewer approved the work, but these checks fail:\n- `go test ./...` ended with exit code 1\n- `make` did not end within 1m30s"},
		"one meddles": {
			[]loop.CheckResult{{Command: "make", Ending: loop.EndCompleted, Changed: []string{"go.sum"}}},
			done, loop.Continue,
			"The reviewer approved the work, but these checks fail:\n- `make` ended with exit code 0; it changed what it was to judge: go.sum",
		},
		"one lacks": {
			[]loop.CheckResult{{Command: "make", Ending: loop.EndFailed, ExitCode: 2, Lacked: []string{"dist/app"}}},
			done, loop.Continue,
			"The reviewer approved the work, but these checks fail:\n- `make` ended with exit code 2; it may need files of an earlier check, which were removed (dist/app): let git ignore them, or combine the two checks",
		},
		"not done":    {[]loop.CheckResult{failing}, more, loop.Continue, "more"},
		"error stays": {[]loop.CheckResult{failing}, loop.Verdict{Decision: loop.Error}, loop.Error, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gate := policy.Gate{Rulers: []policy.Ruler{policy.Checks{}}}
			ruling := gate.Rule(loop.Case{Checks: c.checks}, loop.Review{Verdict: c.verdict})
			if without := (policy.Gate{}).Rule(loop.Case{Checks: c.checks}, loop.Review{Verdict: c.verdict}); !reflect.DeepEqual(without, loop.Ruling{Verdict: c.verdict}) {
				t.Errorf("without rules: %+v", without)
			}
			got := ruling.Verdict
			if overruled := ruling.Rule != ""; overruled != (got.Decision != c.verdict.Decision) {
				t.Errorf("decided by the rule %q", ruling.Rule)
			}
			if got.Decision != c.decision || got.Feedback != c.feedback {
				t.Errorf("got %q %q, want %q %q", got.Decision, got.Feedback, c.decision, c.feedback)
			}
		})
	}
}
