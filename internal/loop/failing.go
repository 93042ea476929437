package loop

import "strings"

// Complaint is what a turn that did not end well says went wrong, in the agent's own
// words where it has any; "" for a good one, and for one that codeloops stopped.
func (t Turn) Complaint() string {
	if t.Ending == EndCompleted || t.Ending.Cut() {
		return ""
	}
	return t.Reason
}

// failsAs reports whether a turn failed as another one had: the same agent, in the
// same words. Those that name a time or a request are passed over.
func (t Turn) failsAs(o Turn) bool {
	return t.Ending == EndFailed && o.Ending == EndFailed && t.Agent == o.Agent && t.ExitCode == o.ExitCode &&
		t.Reason != "" && unnamed(t.Reason) == unnamed(o.Reason)
}

// failsAsTried reports whether a turn failed as its last try had.
func (t Turn) failsAsTried() bool {
	if len(t.Misses) == 0 {
		return false
	}
	m := t.Misses[len(t.Misses)-1]
	return t.failsAs(Turn{Ending: m.Ending, Agent: m.Agent, ExitCode: t.ExitCode, Reason: m.Reason})
}

// unnamed is a sentence without the words that look like the name of one event: long
// ones with several digits.
func unnamed(text string) string {
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

// hopeless returns a [*blockedError] for a turn of the actor that failed as its last
// try had, or as the turn before, and left the work tree as it was: to pay for a review
// of nothing, time after time, helps nobody.
func (r *run) hopeless(c Case) error {
	now, still, again := c.Attempt, c.Change.Empty(), c.Attempt.failsAsTried()
	if last := r.previous; last != nil {
		still = c.Change.State == last.Change.State
		again = again || now.failsAs(last.Attempt.Turn)
	}
	if now.Rejudged || !still || !again {
		return nil
	}
	return &blockedError{StopActorFailed, "the actor failed twice in the same words, and changed nothing: " + now.Reason}
}
