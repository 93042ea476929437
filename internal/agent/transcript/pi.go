package transcript

import (
	"cmp"
	"strings"

	"codeloops/internal/loop"
)

// pi reads the JSONL of pi's json mode. Every piece of a message comes with the whole
// message so far, so the output grows quadratically; only the ends of messages count. The
// closing event repeats the whole conversation and may be too long to read.
type pi struct{ *record }

type piMessage struct {
	Role    string `json:"role"`
	Content []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"content"`
	Usage struct {
		Input      int64 `json:"input"`
		Output     int64 `json:"output"`
		CacheRead  int64 `json:"cacheRead"`
		CacheWrite int64 `json:"cacheWrite"`
		Cost       struct {
			Total *float64 `json:"total"`
		} `json:"cost"`
	} `json:"usage"`
	StopReason string `json:"stopReason"`
	Error      string `json:"errorMessage"`
}

func (p *pi) event(kind string, object []byte) bool {
	switch kind {
	case "session":
		var e struct {
			ID string `json:"id"`
		}
		decode(object, &e)
		p.begins(e.ID)
	case "message_end":
		var e struct {
			Message piMessage `json:"message"`
		}
		if decode(object, &e); e.Message.Role == "assistant" {
			p.message(e.Message)
		}
	case "tool_execution_start":
		var e struct {
			Tool string `json:"toolName"`
			Args input  `json:"args"`
		}
		decode(object, &e)
		p.tool(e.Tool, e.Args)
	case "tool_execution_end":
		var e struct {
			IsError truth `json:"isError"`
		}
		decode(object, &e)
		p.used(bool(e.IsError))
	case "agent_start":
		p.closed = false
	case "agent_end":
		p.closed = true
	case "auto_retry_start":
		var e struct {
			Error string `json:"errorMessage"`
		}
		decode(object, &e)
		p.retries(ofMessage(e.Error), inPlain(e.Error))
	default:
		return strings.HasPrefix(kind, "message_") || strings.HasPrefix(kind, "turn_")
	}
	return true
}

func (p *pi) message(m piMessage) {
	p.round()
	for _, part := range m.Content {
		if part.Type == "text" {
			p.say(part.Text)
		}
	}
	p.asked()
	p.pay(m.Usage.Cost.Total)
	p.add(loop.Tokens{
		Input: m.Usage.Input, Output: m.Usage.Output,
		CacheRead: m.Usage.CacheRead, CacheWrite: m.Usage.CacheWrite,
	})
	p.recovered()
	if m.StopReason == "error" || m.StopReason == "aborted" {
		p.fault(ofMessage(m.Error), cmp.Or(inPlain(m.Error), "its message ended with "+m.StopReason))
	}
	p.stops(cmp.Or(m.StopReason, "no reason"), "stop")
}
