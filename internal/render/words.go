package render

import (
	"time"

	"codeloops/internal/loop"
)

// Span writes a duration as a person would say it, in at most two units.
func Span(d time.Duration) string { return span(d) }

// Count writes a number with the word for what it counts.
func Count(n int, one, many string) string { return count(n, one, many) }

// Stat writes the size of a change in a few words.
func Stat(c loop.Change) string { return stat(c) }

// Fate says how a turn ended, in a word or two.
func Fate(t loop.Turn) string { return fate(t) }

// Failure says how a check came to fail, in a word or two.
func Failure(c loop.CheckResult) string {
	if c.Ending == loop.EndCompleted && c.ExitCode == 0 {
		return "failed, although exit 0"
	}
	return "failed, " + fate(loop.Turn{Ending: c.Ending, ExitCode: c.ExitCode})
}

// Acted says how a turn of the actor went, in a few words: how long it took, how
// it ended and by whom it was played.
func Acted(expected loop.AgentRef, a loop.Attempt) string {
	if a.Rejudged {
		return rejudged
	}
	return span(a.Duration) + "  " + went(a.Turn) + by(expected, a.Turn)
}

// Who names an agent, with its model when one was asked for.
func Who(a loop.AgentRef) string { return who(a) }

// Templates names, a line each, the texts of the user's own in which agents are
// asked.
func Templates(s loop.Session) []string { return templates(s) }

// By names who played a turn, as an addition to its fate, where it was not the
// one who was to.
func By(expected loop.AgentRef, t loop.Turn) string { return by(expected, t) }

// Concerns says, a line each, what the rules of the run point at in the work.
func Concerns(i loop.Inspection) []string { return concerns(i) }

// Misses says, a line each, which tries at a turn came to nothing.
func Misses(t loop.Turn) []string { return misses(t) }

// Cut shortens a line to width columns.
func Cut(line string, width int) string { return cut(line, width) }

// Excerpt returns the first lines of a text, cleaned and each cut to width
// columns, with a line that counts the rest.
func Excerpt(text string, most, width int) []string { return excerpt(text, most, width) }

// Tail returns the last lines of a text, each cut to width columns, with a line that
// counts those before.
func Tail(text string, most, width int) []string { return tail(text, most, width) }

// OfIt says, as an addition to a time, how much of it was spent waiting for
// services; "" where nothing was.
func OfIt(waited time.Duration) string { return ofIt(waited) }

// LeftOpen says, as an addition to how a run ended, what its DONE has left open.
func LeftOpen(o loop.Outcome) string { return leftOpen(o) }

// Told is how good a figure is, for a sentence that has told it.
func Told(b loop.Basis) string { return told(b) }
