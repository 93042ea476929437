package transcript

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"codeloops/internal/loop"
)

// cline reads the JSONL of Cline's command line. The last line is a run_result whose
// finishReason says how it went. Input tokens include those from the cache. The output
// does not name the session.
type cline struct {
	*record
	class string // of the last error
}

type clineUsage struct {
	Input      int64    `json:"inputTokens"`
	Output     int64    `json:"outputTokens"`
	CacheRead  int64    `json:"cacheReadTokens"`
	CacheWrite int64    `json:"cacheWriteTokens"`
	Cost       *float64 `json:"totalCost"`
}

func (c *cline) event(kind string, object []byte) bool {
	switch kind {
	case "agent_event":
		var e struct {
			Event clineEvent `json:"event"`
		}
		decode(object, &e)
		c.agent(e.Event)
	case "run_result":
		c.result(object)
	default:
		return kind == "hook_event"
	}
	return true
}

// clineEvent is the content of an agent_event.
type clineEvent struct {
	Type    string      `json:"type"`
	Content string      `json:"contentType"`
	Text    string      `json:"text"`
	Tool    string      `json:"toolName"`
	Input   input       `json:"input"`
	Output  clineOutput `json:"output"`
	Error   loose       `json:"error"`
	Class   string      `json:"errorClass"`
	Copes   bool        `json:"recoverable"`
	clineUsage
}

// clineOutput is what a tool has done: one thing, or a list of them.
type clineOutput []struct {
	Query   string `json:"query"`
	Error   string `json:"error"`
	Success truth  `json:"success"`
}

// UnmarshalJSON never fails.
func (o *clineOutput) UnmarshalJSON(raw []byte) error {
	type list clineOutput
	if raw[0] == '{' {
		raw = slices.Concat([]byte{'['}, raw, []byte{']'})
	}
	decode(raw, (*list)(o))
	return nil
}

// acted takes what a tool has done.
func (c *cline) acted(e clineEvent) {
	for _, done := range e.Output {
		exit := 0
		_, _ = fmt.Sscanf(done.Error, "Command exited with code %d", &exit)
		if exit != 0 || e.Tool == "run_commands" && bool(done.Success) {
			c.ends(loop.Failure{Act: purpose("", input{arguments: arguments{"command": loose(done.Query)}}), ExitCode: exit})
			continue
		}
		c.used(!bool(done.Success))
	}
}

// spends takes the usage of a request, or of all.
func (c *cline) spends(u clineUsage) {
	c.pay(u.Cost)
	c.add(loop.Tokens{Input: u.Input - u.CacheRead, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite})
}

func (c *cline) agent(e clineEvent) {
	switch {
	case e.Type == "iteration_start":
		c.step()
		c.round()
	case e.Type == "content_start" && e.Content == "tool":
		c.tool(e.Tool, e.Input)
	case e.Type == "content_end" && e.Content == "tool":
		c.acted(e)
	case e.Type == "content_end" && e.Content == "text":
		c.say(e.Text)
	case e.Type == "usage":
		c.report.Usage.CostUSD = nil // it is told for all requests so far
		c.spends(e.clineUsage)
	case e.Type == "error":
		c.class = e.Class
		c.cope(string(e.Error))
		if !e.Copes {
			c.fault(ofCline(c.class, string(e.Error)), string(e.Error))
		}
	}
}

func (c *cline) result(object []byte) {
	var e struct {
		Reason    string      `json:"finishReason"`
		Rounds    *int        `json:"iterations"`
		Text      string      `json:"text"`
		Usage     *clineUsage `json:"usage"`
		Aggregate *clineUsage `json:"aggregateUsage"` // with what subagents used
	}
	decode(object, &e)
	defer func() { c.closed = true }()
	c.report.Usage = loop.Usage{Rounds: e.Rounds}
	if e.Aggregate != nil {
		e.Usage = e.Aggregate
	}
	if e.Usage != nil {
		c.spends(*e.Usage)
	}
	if e.Reason == "completed" {
		c.final(e.Text)
		return
	}
	reason := "it ended with " + strings.ReplaceAll(cmp.Or(e.Reason, "no reason"), "_", " ")
	if e.Reason == "error" && e.Text != "" {
		reason = e.Text // the error, not a message
	}
	c.fault(ofCline(c.class, reason), reason)
}

func ofCline(class, reason string) loop.Ending {
	switch class {
	case "auth":
		return loop.EndAuth
	case "context_window_exceeded":
		return loop.EndContextTooLong
	}
	return ofMessage(reason)
}
