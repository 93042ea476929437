package agent

import (
	"bytes"

	"codeloops/internal/agent/transcript"
	"codeloops/internal/loop"
	"codeloops/internal/proc"
	"codeloops/internal/proc/ending"
)

// reply converts a result. Of a structured output the turn holds the agent's messages
// instead of the events; said is nil for text.
func (s Spec) reply(access loop.Access, res proc.Result, said *transcript.Report) Reply {
	if s.Prompt == talk && said.Closed && res.Stop == proc.StopNone {
		res.ExitCode = 0 // it has answered, and was told to end
	}
	if said != nil && said.Closed && !said.Spinning && (res.Stop == proc.StopIdle || res.Stop == proc.StopTimeout) {
		res.Stop, res.ExitCode = proc.StopNone, 0 // it had said all, but did not exit
	}
	how, reason := s.judge(access, res, said)
	r := Reply{Turn: loop.Turn{
		Execution: loop.Execution{
			Stdout: ending.Output(res.Stdout), Stderr: ending.Output(res.Stderr),
			ExitCode: res.ExitCode, Duration: res.Duration,
			Late: loop.Late{Total: res.Late.Total, File: res.Late.File},
		},
		Try: loop.Try{Ending: how, Reason: reason},
	}}
	r.SealOnly = s.Truncation == "silent"
	for _, p := range res.Leftovers {
		r.Leftovers = append(r.Leftovers, loop.Process{PID: p.PID, Command: p.Command})
	}
	if said == nil || !said.Spoken {
		r.Text = string(final(res.Stdout))
		return r
	}
	if r.Answered = said.Answered; how == loop.EndRateLimited {
		r.ResetAt = said.ResetAt
	}
	r.Text, r.Conversation, r.Usage = said.Text, said.Conversation, said.Usage
	r.running, r.Failures, r.Futile = said.Running, said.Failures, said.Futile
	r.Stdout.Text, r.Stdout.Total, r.Stdout.Omitted = said.Said.Text, said.Said.Total, said.Said.Omitted
	return r
}

// final returns a whole stream, or whole lines from its end if the middle was omitted:
// head and tail joined could read as something that nobody said.
func final(c proc.Captured) []byte {
	if c.Omitted == 0 {
		return c.Text
	}
	if i := bytes.IndexByte(c.End, '\n'); i >= 0 && int64(len(c.End)) < c.Total {
		return c.End[i+1:]
	}
	return c.End
}
