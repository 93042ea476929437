package accept

import (
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/screen/term"
	"codeloops/internal/session/putback"
	"codeloops/internal/session/standing"
)

// subjectRoom is how long the first line of a message should be.
const subjectRoom = 72

// Message is the message for the commit of a run: the critic's summary, or else the task.
func Message(e putback.Ended) string {
	text := ""
	if e.Outcome != nil && e.Outcome.Result == loop.Success {
		text = strings.TrimSpace(term.Clean(e.Outcome.Summary))
	}
	if text == "" {
		text = term.Line(standing.Title(e.Prompt))
	}
	first, rest, _ := strings.Cut(text, "\n")
	if len(first) <= subjectRoom {
		return strings.TrimSpace(first + "\n\n" + strings.TrimSpace(rest))
	}
	subject := first
	if sentence, _, more := strings.Cut(first, ". "); more && len(sentence) <= subjectRoom {
		return sentence + "\n\n" + text
	}
	subject = strings.ToValidUTF8(subject[:subjectRoom-len("…")], "")
	if at := strings.LastIndex(subject, " "); at > 0 {
		subject = subject[:at]
	}
	return subject + "…\n\n" + text
}
