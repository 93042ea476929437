package transcript

import (
	"cmp"
	"slices"

	"codeloops/internal/loop"
)

// opencode reads the JSONL of `opencode run --format json`, which Kilo Code prints as
// well. It has no closing event: the output is whole when the last step has finished and
// requested no more tools.
type opencode struct{ *record }

func (o *opencode) event(kind string, object []byte) bool {
	var e struct {
		Session string `json:"sessionID"`
		Part    struct {
			Text   string   `json:"text"`
			Tool   string   `json:"tool"`
			Reason string   `json:"reason"`
			Cost   *float64 `json:"cost"`
			Tokens *struct {
				Input     int64 `json:"input"`
				Output    int64 `json:"output"`
				Reasoning int64 `json:"reasoning"`
				Cache     struct {
					Read  int64 `json:"read"`
					Write int64 `json:"write"`
				} `json:"cache"`
			} `json:"tokens"`
			State struct {
				Input    input `json:"input"`
				Error    loose `json:"error"`
				Metadata struct {
					Exit int `json:"exit"`
				} `json:"metadata"`
			} `json:"state"`
		} `json:"part"`
		Error openCodeError `json:"error"`
	}
	decode(object, &e)
	o.hidden = slices.Contains([]string{"step_start", "text", "reasoning", "tool_use"}, kind)
	switch kind {
	case "step_start":
		o.closed = false
		o.round()
	case "text":
		// Kilo Code prints what a step said only after the error that broke the step off.
		broken, ending := o.failed && o.closed, o.report.Ending
		if o.say(e.Part.Text); broken {
			o.closed, o.report.Ending = true, ending
		}
	case "tool_use":
		o.tool(e.Part.Tool, e.Part.State.Input)
		o.cope(string(e.Part.State.Error))
		o.used(e.Part.State.Error != "" || e.Part.State.Metadata.Exit != 0)
	case "step_finish":
		o.closed = e.Part.Reason != "" && e.Part.Reason != "tool-calls"
		o.stops(e.Part.Reason, "stop")
		o.asked()
		o.pay(e.Part.Cost)
		if t := e.Part.Tokens; t != nil {
			o.add(loop.Tokens{
				Input: t.Input, Output: t.Output + t.Reasoning, Reasoning: t.Reasoning,
				CacheRead: t.Cache.Read, CacheWrite: t.Cache.Write,
			})
		}
	case "error":
		o.closed = true
		o.fault(e.Error.fault())
		if e.Error.Data.Status != 0 {
			o.answered()
		}
	case "reasoning":
	default:
		return false
	}
	if e.Session != "" {
		o.report.Conversation = e.Session
	}
	return true
}

type openCodeError struct {
	Name string `json:"name"`
	Data struct {
		Message string `json:"message"`
		Status  number `json:"statusCode"`
	} `json:"data"`
}

func (e openCodeError) fault() (loop.Ending, string) {
	reason := cmp.Or(e.Data.Message, e.Name)
	if ending, inner := answered(reason); inner != "" {
		return ending, inner
	}
	switch e.Name {
	case "ProviderAuthError":
		return loop.EndAuth, reason
	case "ContextOverflowError":
		return loop.EndContextTooLong, reason
	}
	return ofFault(int(e.Data.Status), reason), reason
}
