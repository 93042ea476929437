package loop

import (
	"fmt"
	"strings"
	"time"
)

// Complaint is the agent's own message about a failed turn; "" if the turn succeeded, or if
// codeloops stopped it.
func (t Turn) Complaint() string {
	if t.Ending == EndCompleted || t.Ending.Cut() {
		return ""
	}
	return t.Reason
}

// failsAs reports whether two tries of the same agent failed with the same message, ignoring
// words that contain a time or a request ID.
func (t Try) failsAs(o Try) bool {
	return t.Ending == EndFailed && o.Ending == EndFailed && t.Agent == o.Agent &&
		t.Reason != "" && withoutIDs(t.Reason) == withoutIDs(o.Reason)
}

// withoutIDs removes words that look like IDs or times: long ones with several digits.
func withoutIDs(text string) string {
	const long, several = 8, 3
	var words []string
	for word := range strings.FieldsSeq(text) {
		digits := len(word) - len(strings.Map(func(r rune) rune {
			if '0' <= r && r <= '9' {
				return -1
			}
			return r
		}, word))
		if len(word) < long || digits < several {
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}

// failedTwice returns a [*stopError] if the actor failed the same way twice, within the turn or in
// two turns, and left the work tree unchanged: paying for reviews of nothing helps nobody.
func failedTwice(it *Iteration) error {
	now, still := it.c.Attempt, it.c.Change.Empty()
	n := len(now.Misses)
	again := n > 0 && now.failsAs(now.Misses[n-1])
	if last := it.run.previous; last != nil {
		still = it.c.Change.State == last.Change.State
		again = again || now.ExitCode == last.Attempt.ExitCode && now.failsAs(last.Attempt.Try)
	}
	if now.Rejudged || !still || !again {
		return nil
	}
	return &stopError{reason: StopActorFailed, sentence: "the actor failed twice with the same message, and changed nothing: " + now.Reason}
}

// blocked returns a [*stopError] for a turn in which the agent could not work, and cannot until a
// person does something. Going on would only use up iterations.
func blocked(role Role, t Turn) error {
	if !t.Blocked() {
		return nil
	}
	e := &stopError{reason: StopAgentAuth, sentence: fmt.Sprintf("the %s's agent is not signed in", role)}
	if t.Ending == EndPermissionDenied {
		e.sentence = fmt.Sprintf("the %s's agent is not allowed to work", role)
	}
	if t.Ending == EndOutOfCredit {
		e.reason, e.sentence = StopAgentOutOfCredit, fmt.Sprintf("the %s's agent is out of credit", role)
	}
	if t.Ending == EndRateLimited {
		e.reason, e.sentence = StopAgentRateLimited, fmt.Sprintf("the %s's agent has reached its rate limit", role)
		if !t.ResetAt.IsZero() {
			e.sentence += " until " + t.ResetAt.UTC().Format(time.RFC3339)
		}
	}
	if t.Reason != "" {
		e.sentence += ": " + t.Reason
	}
	return e
}

// failure says why an iteration counts as an error: the review gave no verdict, the actor's turn
// was cut short without the work being done, or the critic said ERROR.
func failure(round Round) StopReason {
	switch {
	case round.Review.Broken != "" && round.Verdict.Decision == Error:
		return Violation(round.Review.Broken)
	case round.Review.Problem != "" && round.Verdict.Decision == Error:
		return cutReason(round.Review.Ending, StopCriticTimeout, StopNoDecision)
	case round.Verdict.Decision == Done:
		return StopNone
	case round.Attempt.Ending.Cut(), round.Attempt.Ending.Stuck():
		return cutReason(round.Attempt.Ending, StopActorTimeout, StopConsecutiveErrors)
	case round.Verdict.Decision == Error:
		return StopConsecutiveErrors
	}
	return StopNone
}

// failureText is the message of an iteration that counts as an error.
func failureText(round Round) string {
	switch {
	case round.Failure == StopNone:
		return ""
	case round.Review.Problem != "":
		return round.Review.Problem
	case round.Attempt.Ending.Cut(), round.Attempt.Ending.Stuck():
		return round.Attempt.Reason
	}
	return round.Verdict.Analysis
}

func cutReason(e Ending, timeout, other StopReason) StopReason {
	switch e {
	case EndTimedOut, EndIdle, EndSpinning:
		return timeout
	case EndOutputLimit:
		return StopOutputLimit
	case EndCompleted, EndEmpty, EndFailed, EndInterrupted, EndAuth, EndRateLimited, EndOutOfCredit,
		EndOverloaded, EndContextTooLong, EndPermissionDenied:
	}
	return other
}
