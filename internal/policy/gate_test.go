package policy_test

import (
	"reflect"
	"testing"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/policy"
)

func TestStop(t *testing.T) {
	t.Parallel()
	gate := policy.Gate{MaxIterations: 5, MaxConsecutiveErrors: 3}
	for name, c := range map[string]struct {
		gate     policy.Gate
		progress loop.Progress
		reason   loop.StopReason
		why      string
	}{
		"fresh":          {gate, loop.Progress{}, loop.StopNone, ""},
		"under way":      {gate, loop.Progress{Iterations: 4, ConsecutiveErrors: 2}, loop.StopNone, ""},
		"limit":          {gate, loop.Progress{Iterations: 5}, loop.StopMaxIterations, "all 5 iterations are used up"},
		"errors":         {gate, loop.Progress{Iterations: 3, ConsecutiveErrors: 3, LastFailure: loop.StopActorTimeout}, loop.StopActorTimeout, "3 iterations in a row ended in an error, the last one because the actor ran into its time limit"},
		"errors first":   {gate, loop.Progress{Iterations: 5, ConsecutiveErrors: 3, LastFailure: loop.StopNoDecision}, loop.StopNoDecision, "3 iterations in a row ended in an error, the last one because the critic gave no decision"},
		"cost":           {policy.Gate{MaxCost: 2}, loop.Progress{Spent: loop.Spending{CostUSD: 2.5}}, loop.StopMaxCost, "the turns have cost $2.50 of $2.00"},
		"below cost":     {policy.Gate{MaxCost: 2}, loop.Progress{Spent: loop.Spending{CostUSD: 1.9, NoTokens: loop.RoleActor}}, loop.StopNone, ""},
		"tokens":         {policy.Gate{MaxTokens: 10}, loop.Progress{Spent: loop.Spending{Tokens: 10, NoCost: loop.RoleActor}}, loop.StopMaxTokens, "the turns have used 10 of 10 tokens"},
		"no cost told":   {policy.Gate{MaxCost: 2}, loop.Progress{Spent: loop.Spending{NoCost: loop.RoleActor}}, loop.StopMaxCost, "max_cost cannot be held: the actor's agent does not report what it costs"},
		"no tokens told": {policy.Gate{MaxTokens: 10}, loop.Progress{Spent: loop.Spending{NoTokens: loop.RoleCritic}}, loop.StopMaxTokens, "max_tokens cannot be held: the critic's agent does not report its tokens"},
		"no limits":      {policy.Gate{}, loop.Progress{Iterations: 1000, ConsecutiveErrors: 1000}, loop.StopNone, ""},
		"critic's turn":  {gate, loop.Progress{Iterations: 4, Next: loop.RoleCritic}, loop.StopNone, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if reason, why := c.gate.Stop(c.progress); reason != c.reason || why != c.why {
				t.Errorf("got %q, %q; want %q, %q", reason, why, c.reason, c.why)
			}
		})
	}
}

func TestChecks(t *testing.T) {
	t.Parallel()
	passing := loop.CheckResult{Command: "true", Ending: loop.EndCompleted}
	failing := loop.CheckResult{Command: "go test ./...", Ending: loop.EndFailed, ExitCode: 1}
	slow := loop.CheckResult{Command: "make", Ending: loop.EndTimedOut, ExitCode: -1, Duration: 90 * time.Second}
	done := loop.Verdict{Decision: loop.Done, Summary: "fine"}
	more := loop.Verdict{Decision: loop.Continue, Feedback: "more"}

	for name, c := range map[string]struct {
		checks   []loop.CheckResult
		verdict  loop.Verdict
		decision loop.Decision
		feedback string
	}{
		"no checks":   {nil, done, loop.Done, ""},
		"all pass":    {[]loop.CheckResult{passing, passing}, done, loop.Done, ""},
		"some fail":   {[]loop.CheckResult{passing, failing, slow}, done, loop.Continue, "The reviewer was content, but these checks do not pass:\n- `go test ./...` ended with exit code 1\n- `make` did not end within 1m30s"},
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
