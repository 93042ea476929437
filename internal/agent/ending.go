package agent

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"codeloops/internal/agent/transcript"
	"codeloops/internal/loop"
	"codeloops/internal/proc"
	"codeloops/internal/proc/ending"
)

const (
	// lastLines is how many lines at the end of a stream are looked at for
	// what went wrong.
	lastLines = 32
)

// An end is how a turn came to its end.
type end struct {
	ending  loop.Ending
	reason  string
	resetAt time.Time
}

// judge returns how a turn ended: first by what codeloops did to it, then by the agent's
// own events, then by its exit code and the exact lines that the agent is known to
// print. Prose does not count: a program about rate limits is not rate limited.
func (s Spec) judge(access loop.Access, res proc.Result, said *transcript.Report) end {
	if e, ok := ending.Of(res.Stop); ok {
		return cut(e, said)
	}
	if said != nil && said.Spoken {
		e := end{said.Ending, said.Reason, said.ResetAt}
		good := e.ending == loop.EndCompleted || e.ending == loop.EndEmpty
		if good && res.ExitCode == 0 {
			return e
		}
		if !good && e.ending != loop.EndFailed {
			return e
		}
		return s.failed(res, said, e.reason)
	}
	if res.ExitCode != 0 {
		return s.failed(res, said, "")
	}
	switch {
	case said != nil:
		return end{ending: said.Ending, reason: said.Reason}
	case access == loop.ReadOnly && res.Stdout.Omitted == 0 && strings.TrimSpace(string(res.Stdout.Text)) == "":
		return end{ending: loop.EndEmpty}
	}
	return end{ending: loop.EndCompleted}
}

// cut is the end of a turn that codeloops stopped. If it was silent because the agent
// was retrying, the cause of that is its ending.
func cut(e loop.Ending, said *transcript.Report) end {
	switch {
	case said == nil:
		return end{ending: e}
	case e == loop.EndIdle && said.Coping.Stuck():
		e = said.Coping
	}
	return end{ending: e, reason: said.Problem}
}

// failed looks for the cause of a failed turn. reason is what the agent's events say, if
// anything.
func (s Spec) failed(res proc.Result, said *transcript.Report, reason string) end {
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
				return end{ending: known.Ending, reason: known.reason(line)}
			}
		}
	}
	if reason = cmp.Or(reason, lastWords(errors)); reason == "" && res.ExitCode > 0 {
		reason = fmt.Sprintf("it ended with exit code %d", res.ExitCode)
	}
	if e, ok := s.Exits[strconv.Itoa(res.ExitCode)]; ok {
		return end{ending: e, reason: reason}
	}
	return end{ending: loop.EndFailed, reason: reason}
}

func (k Saying) reason(line string) string {
	if k.Hint != "" {
		line += "; " + k.Hint
	}
	return line
}

// tailLines returns the last lines of a text, without what drives terminals.
func tailLines(text string) []string {
	lines := strings.Split(strings.TrimRightFunc(text, unicode.IsSpace), "\n")
	lines = lines[max(0, len(lines)-lastLines):]
	for i, line := range lines {
		lines[i] = transcript.Line(line)
	}
	return lines
}

// lastWords is the last line that can be a sentence: stack traces are indented or hold
// no words.
func lastWords(lines []string) string {
	for _, line := range slices.Backward(lines) {
		if strings.ContainsFunc(line, unicode.IsLetter) && !strings.HasPrefix(line, "at ") {
			return line
		}
	}
	return ""
}
