package loop

import (
	"strings"
	"time"
)

// A Result is how a run ended, as the session log's outcome field spells it.
type Result string

// The results of a run.
const (
	Success         Result = "success"
	MaxIterations   Result = "max_iterations_reached"
	BudgetExhausted Result = "budget_exhausted"
	Failed          Result = "failed"
	Interrupted     Result = "interrupted"
)

// A StopReason is the one word, for machines, that says why a run ended or an
// iteration failed.
type StopReason string

// The reasons. StopNone is "no reason": the run goes on.
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
	StopActorFailed       StopReason = "actor_failed"
	StopActorTimeout      StopReason = "actor_timeout"
	StopCriticTimeout     StopReason = "critic_timeout"
	StopOutputLimit       StopReason = "output_limit"
	StopNoDecision        StopReason = "no_decision"
	StopPolicyEscalation  StopReason = "policy_escalation"
	StopConflict          StopReason = "conflict"
	StopForkLost          StopReason = "fork_lost"
	StopInterrupted       StopReason = "interrupted"
	StopInternal          StopReason = "internal"
)

// violation is what the reasons of broken rules begin with.
const violation = "policy_violation:"

// Violation is the reason of a run that stops because of a rule that the work
// or a verdict breaks.
func Violation(rule string) StopReason { return StopReason(violation + rule) }

// Violates returns the name of the broken rule, "" for every other reason.
func (r StopReason) Violates() string {
	rule, ok := strings.CutPrefix(string(r), violation)
	if !ok {
		return ""
	}
	return rule
}

// Result returns the result that a run which stops for r has.
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
	case StopNone, StopStuck, StopConsecutiveErrors, StopAgentNotFound, StopAgentAuth, StopAgentRateLimited, StopActorFailed, StopActorTimeout,
		StopCriticTimeout, StopOutputLimit, StopNoDecision,
		StopPolicyEscalation, StopConflict, StopForkLost, StopInternal:
	}
	return Failed
}

// An Outcome is how a run ended. With [StopMaxIterations] its Cause is the parameter of the strategy
// that was met, "" the limit of the run; with [StopNoDecision] the role that gave none, "" the
// critic; with [StopConflict] the reference under which what was not applied is kept; with
// [StopPolicyEscalation] the fork in which the work is, "" where it is in the user's tree.
type Outcome struct {
	Result     Result
	Reason     StopReason
	Cause      string
	Iterations int           // whole iterations
	Summary    string        // the critic's, or a sentence on why the run stopped
	Confidence *float64      // the critic's, when it said DONE
	Duration   time.Duration // the whole run's

	// ActorError is what the actor's last turn said went wrong, "" when nothing did.
	ActorError string

	// What a run that is done leaves open.

	Unmentioned    int  // open findings that the critic's DONE says nothing of
	NothingChanged bool // the work tree is as it was, and no check was run
}

// Bounded reports whether a bound of the strategy has ended the run.
func (o Outcome) Bounded() bool { return o.Reason == StopMaxIterations && o.Cause != "" }

// Final reports whether there is nothing to carry on: a session would end there again.
func (o Outcome) Final() bool {
	return o.Reason == StopDone || o.Reason == StopForkLost || o.Bounded()
}
