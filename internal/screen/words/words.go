// Package words translates machine names of a run for people: phases, rules, stop reasons.
package words

import (
	"cmp"
	"fmt"

	"codeloops/internal/loop"
	"codeloops/internal/policy"
	"codeloops/internal/policy/convergence"
	"codeloops/internal/policy/limits"
	"codeloops/internal/screen/term"
)

// Phase names a phase so that it can follow "the".
func Phase(s loop.State) string {
	switch s {
	case loop.ActorExecuting:
		return "actor's turn"
	case loop.CapturingDiff:
		return "capture of the diff"
	case loop.Verifying:
		return "checks"
	case loop.CriticEvaluating:
		return "critic's turn"
	case loop.Start, loop.DecidedDone, loop.DecidedContinue, loop.DecidedError, loop.Ended:
	}
	return s.String()
}

// Outcome says in one or two words how a session ended, or that it is running. It returns names
// that it does not know unchanged: they may be of another version.
func Outcome(name string) string {
	return cmp.Or(map[loop.Result]string{
		loop.MaxIterations:   "limit reached",
		loop.BudgetExhausted: "out of budget",
	}[loop.Result(name)], term.Line(name))
}

// Confidence says what a critic's confidence means.
func Confidence(c float64) string {
	switch {
	case c >= 0.9:
		return "high: all requirements clearly met"
	case c >= 0.7:
		return "good: requirements met, with minor uncertainty"
	case c >= 0.5:
		return "moderate: some requirements unclear"
	}
	return "low: the task may be incomplete"
}

// Note says what a step of a strategy reported, as the words before its subject.
func Note(name string) string {
	return cmp.Or(map[string]string{
		loop.NoteForked:        "copied",
		loop.NoteForkApplied:   "applied",
		loop.NoteForkDiscarded: "thrown away",
		loop.NoteRestored:      "put back",
		loop.NoteMeddled:       "asked again",
		loop.NoteSaid:          "not done yet, because of what you have said",
		"blackboard.note":      "noted",
		"blackboard.post":      "posted",
		"debate.decision":      "decided by",
		"debate.likeness":      "how alike the answers are",
		"plan.made":            "the plan",
		"plan.step_done":       "step done",
		"plan.step_failed":     "step failed",
		"reflexion.keep":       "lesson kept",
		"reflexion.lesson":     "lesson",
		"reflexion.recall":     "lessons recalled",
		"reflexion.score":      "score",
		"rewoo.left_out":       "left out",
		"rewoo.plan":           "evidence to gather",
		"router.route":         "route",
		"supervisor.delegate":  "delegated to",
		"supervisor.forward":   "forwarded from",
		"score.unread":         "no score could be read",
		"swarm.handoff":        "handed over",
		"tree.thought":         "thought",
	}[name], term.Line(name))
}

// Rule says why a rule decided, as the end of a sentence: "CONTINUE because a check failed". It
// names a rule that it does not know.
func Rule(name string) string {
	return cmp.Or(map[string]string{
		loop.RuleUser:         "because the actor was interrupted",
		policy.RuleChecks:     "because a check failed",
		policy.RuleApproval:   "by the critic's score",
		policy.RuleChange:     "because nothing has changed",
		policy.RuleFindings:   "because findings are open",
		policy.RuleLate:       "because what is left was found late",
		policy.RuleAutoRevise: "because the run may not revise the work",
		policy.RuleRequired:   "because required changes are missing",
		convergence.Rule:      "because the loop makes no progress",
		"allow_paths":         "because forbidden files were changed",
		"deny_paths":          "because forbidden files were changed",
		"deny_phrases":        "because forbidden words were written",
		"max_files":           "because too many files have changed",
		"max_lines":           "because too many lines have changed",
		"max_bytes":           "because too much has changed",
		"no_new_dependencies": "because there is a new dependency",
		limits.RuleTamper:     "because tests, or what decides about them, were changed",
		limits.RuleDeciding:   "because files that decide over the work have changed",
	}[name], "by the rule "+term.Line(name))
}

// End says why a run ended, as a clause.
func End(o loop.Outcome) string {
	switch {
	case o.Bounded():
		return term.Line(o.Cause) + " was reached"
	case o.Reason == loop.StopNoDecision && o.Cause != "":
		return "the " + term.Line(o.Cause) + " gave no decision"
	}
	return Stop(o.Reason)
}

// Remedy says what to do about the end of a run; "" if there is nothing to say.
func Remedy(o loop.Outcome) string {
	switch {
	case o.Bounded():
		return fmt.Sprintf("the limit of this session is fixed: strategy.%[1]s in the configuration allows a new one more", term.Line(o.Cause))
	case o.Reason == loop.StopPolicyEscalation && o.Cause != "":
		return fmt.Sprintf("its work is kept in a copy, %s, and continues there when the session is resumed; codeloops sessions diff --iteration %d shows it", term.Line(o.Cause), o.Iterations)
	case o.Reason == loop.StopConflict && o.Cause != "":
		return "put your changes aside and resume the session to have it applied; it is kept as " + term.Line(o.Cause)
	case o.Reason == loop.StopConflict:
		return "put your changes aside and resume the session to have it applied"
	}
	return ""
}

// Stop says why a run ended, as a clause. It names a reason that it does not know, as of another
// version.
func Stop(r loop.StopReason) string {
	if rule := r.Violates(); rule != "" {
		return "ended " + Rule(rule)
	}
	return cmp.Or(map[loop.StopReason]string{
		loop.StopDone:              "the work was approved",
		loop.StopMaxIterations:     "the iterations are used up",
		loop.StopMaxDuration:       "the time is used up",
		loop.StopMaxCost:           "the limit of the cost is reached",
		loop.StopMaxTokens:         "the limit of tokens is reached",
		loop.StopStuck:             "the loop made no progress",
		loop.StopConsecutiveErrors: "too many errors in a row",
		loop.StopAgentNotFound:     "an agent is not installed",
		loop.StopAgentAuth:         "an agent is not signed in",
		loop.StopAgentRateLimited:  "an agent is at its limit",
		loop.StopAgentOutOfCredit:  "an agent is out of credit",
		loop.StopActorFailed:       "the actor failed twice with the same words",
		loop.StopActorTimeout:      "the actor took too long",
		loop.StopCriticTimeout:     "the critic took too long",
		loop.StopOutputLimit:       "an agent printed too much",
		loop.StopNoDecision:        "the critic gave no decision",
		loop.StopPolicyEscalation:  "the critic wants a person to decide",
		loop.StopConflict:          "the same files were changed meanwhile",
		loop.StopForkLost:          "a copy of the work tree is gone",
		loop.StopInterrupted:       "it was interrupted",
		loop.StopUsage:             "it could not begin",
		loop.StopInternal:          "codeloops itself failed",
	}[r], term.Line(string(r)))
}
