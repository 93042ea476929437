package agent

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"codeloops/internal/agent/transcript"
	"codeloops/internal/loop"
	"codeloops/internal/proc"
	"codeloops/internal/proc/ending"
)

// lastLines is how many lines at the end of a stream are searched for the cause of a
// failure.
const lastLines = 32

// judge returns how a turn ended, and why. What codeloops did to it comes first, then the agent's
// own events, then its exit code and the exact lines that the agent is known to print.
// Other text does not count: an agent that works on rate limits is not rate limited.
func (s Spec) judge(access loop.Access, res proc.Result, said *transcript.Report) (e loop.Ending, reason string) {
	if e, ok := ending.Of(res.Stop); ok {
		return cut(e, said)
	}
	switch {
	case said != nil && said.Spoken:
		good := said.Ending == loop.EndCompleted || said.Ending == loop.EndEmpty
		if good && res.ExitCode == 0 || !good && said.Ending != loop.EndFailed {
			return said.Ending, said.Reason
		}
		return s.failed(res, said, said.Reason)
	case res.ExitCode != 0:
		return s.failed(res, said, "")
	case said != nil:
		return said.Ending, said.Reason
	case access == loop.ReadOnly && res.Stdout.Omitted == 0 && strings.TrimSpace(string(res.Stdout.Text)) == "":
		return loop.EndEmpty, ""
	}
	return loop.EndCompleted, ""
}

// cut is the end of a turn that codeloops stopped. If the agent was silent because it was
// retrying, the reason for retrying is the ending.
func cut(e loop.Ending, said *transcript.Report) (loop.Ending, string) {
	switch {
	case said == nil:
		return e, ""
	case e == loop.EndIdle && said.Spinning:
		e = loop.EndSpinning
	case e == loop.EndIdle && said.Coping.Stuck():
		e = said.Coping
	}
	return e, said.Problem
}

// failed finds the cause of a failed turn. reason is what the agent's events say, if
// anything.
func (s Spec) failed(res proc.Result, said *transcript.Report, reason string) (loop.Ending, string) {
	errors := tailLines(string(res.Stderr.Text))
	var plain []string
	if said == nil {
		plain = tailLines(string(res.Stdout.Text))
	} else {
		plain = said.Plain
	}
	for _, known := range s.Sayings {
		for _, line := range slices.Concat([]string{reason}, errors, plain) {
			if strings.HasPrefix(line, known.Line) {
				e, says := transcript.OfMessage(line)
				return cmp.Or(known.Ending, e), strings.TrimSuffix(says+"; "+known.Hint, "; ")
			}
		}
	}
	if reason = cmp.Or(reason, lastWords(errors)); reason == "" && res.ExitCode > 0 {
		reason = fmt.Sprintf("it ended with exit code %d", res.ExitCode)
	}
	return cmp.Or(s.Exits[strconv.Itoa(res.ExitCode)], loop.EndFailed), reason
}

// tailLines returns the last lines of a text, without terminal control sequences.
func tailLines(text string) []string {
	lines := strings.Split(strings.TrimRightFunc(text, unicode.IsSpace), "\n")
	lines = lines[max(0, len(lines)-lastLines):]
	for i, line := range lines {
		lines[i] = transcript.Line(line)
	}
	return lines
}

// lastWords returns the last line that may be a sentence. Lines of stack traces begin
// with "at " or hold no letters.
func lastWords(lines []string) string {
	for _, line := range slices.Backward(lines) {
		if strings.ContainsFunc(line, unicode.IsLetter) && !strings.HasPrefix(line, "at ") {
			return line
		}
	}
	return ""
}
