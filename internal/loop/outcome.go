package loop

import (
	"strings"
	"time"
)

// A Result is how a run ended, as in the session log's outcome field.
type Result string

// The results of a run.
const (
	Success         Result = "success"
	MaxIterations   Result = "max_iterations_reached"
	BudgetExhausted Result = "budget_exhausted"
	Failed          Result = "failed"
	Interrupted     Result = "interrupted"
)

// A StopReason is a word, for machines, that says why a run ended or an iteration failed.
type StopReason string

// The reasons. StopNone means that the run goes on.
const (
	StopNone              StopReason = ""
	StopDone              StopReason = "done"
	StopMaxIterations     StopReason = "max_iterations"
	StopMaxDuration       StopReason = "max_duration"
	StopMaxCost           StopReason = "max_cost"
	StopMaxTokens         StopReason = "max_tokens"
	StopStuck             StopReason = "stuck"
	StopConsecutiveErrors StopReason = "consecutive_errors"
	StopAgentNotFound     StopReason = "agent_not_found"
	StopAgentAuth         StopReason = "agent_auth"
	StopAgentRateLimited  StopReason = "agent_rate_limited"
	StopAgentOutOfCredit  StopReason = "agent_out_of_credit" //nolint:gosec // a word of the log, no credential
	StopActorFailed       StopReason = "actor_failed"
	StopActorTimeout      StopReason = "actor_timeout"
	StopCriticTimeout     StopReason = "critic_timeout"
	StopOutputLimit       StopReason = "output_limit"
	StopNoDecision        StopReason = "no_decision"
	StopPolicyEscalation  StopReason = "policy_escalation"
	StopConflict          StopReason = "conflict"
	StopForkLost          StopReason = "fork_lost"
	StopInterrupted       StopReason = "interrupted"
	StopUsage             StopReason = "usage" // it never began
	StopInternal          StopReason = "internal"
)

// violation is the prefix of the reasons for broken rules.
const violation = "policy_violation:"

// Violation is the reason for stopping because the work or a verdict breaks a rule.
func Violation(rule string) StopReason { return StopReason(violation + rule) }

// Violates returns the name of the broken rule, "" for every other reason.
func (r StopReason) Violates() string {
	rule, ok := strings.CutPrefix(string(r), violation)
	if !ok {
		return ""
	}
	return rule
}

// Result returns the result of a run that stops for this reason.
func (r StopReason) Result() Result {
	switch r {
	case StopDone:
		return Success
	case StopMaxIterations:
		return MaxIterations
	case StopMaxDuration, StopMaxCost, StopMaxTokens:
		return BudgetExhausted
	case StopInterrupted:
		return Interrupted
	case StopNone, StopStuck, StopConsecutiveErrors, StopAgentNotFound, StopAgentAuth, StopAgentRateLimited, StopAgentOutOfCredit,
		StopActorFailed, StopActorTimeout, StopCriticTimeout, StopOutputLimit, StopNoDecision,
		StopPolicyEscalation, StopConflict, StopForkLost, StopUsage, StopInternal:
	}
	return Failed
}

// An Outcome is how a run ended. The meaning of Cause depends on the reason:
//   - [StopMaxIterations]: the strategy parameter that was the limit, "" for the run's own limit
//   - [StopNoDecision]: the role that gave no decision, "" for the critic
//   - [StopConflict]: the reference that keeps the work that was not applied
//   - [StopPolicyEscalation]: the fork that holds the work, "" for the user's tree
//   - [StopInterrupted]: [SteerStop] if the user let the iteration end first
type Outcome struct {
	Result     Result
	Reason     StopReason
	Cause      string
	Iterations int           // whole iterations
	Summary    string        // the critic's, or why the run stopped
	Confidence *float64      // the critic's, if it said DONE
	Duration   time.Duration // of the whole run

	// ActorError is the error message of the actor's last turn, "" if there was none.
	ActorError string

	// Details of a run that is done.

	Unmentioned    int  // open findings that the critic's DONE does not mention
	NothingChanged bool // the work tree is unchanged, and no check was run
}

// Bounded reports whether a limit of the strategy ended the run.
func (o Outcome) Bounded() bool { return o.Reason == StopMaxIterations && o.Cause != "" }

// Stopped reports whether the user had the run stop after an iteration.
func (o Outcome) Stopped() bool {
	return o.Reason == StopInterrupted && o.Cause == string(SteerStop)
}

// Final reports whether the session cannot be resumed: it would end the same way.
func (o Outcome) Final() bool {
	return o.Reason == StopDone || o.Reason == StopForkLost || o.Bounded()
}
