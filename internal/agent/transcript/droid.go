package transcript

import "codeloops/internal/loop"

// droid reads the stream-json of Factory's Droid. The last line is a completion, or an
// error if it could not work.
type droid struct{ *record }

func (d *droid) event(kind string, object []byte) bool {
	var e struct {
		Session string `json:"session_id"`
		ID      string `json:"id"`
		Role    string `json:"role"`
		Text    string `json:"text"`
		Tool    string `json:"toolName"`
		Input   input  `json:"parameters"`
		Message string `json:"message"`
		Final   string `json:"finalText"`
		IsError truth  `json:"is_error"`
		Failed  truth  `json:"isError"`
		Result  string `json:"result"`
		Rounds  *int   `json:"numTurns"`
		Usage   counts `json:"usage"`
	}
	decode(object, &e)
	switch kind {
	case "system":
	case "tool_result":
		d.used(bool(e.Failed))
	case "message":
		if e.Role == "assistant" {
			if e.ID != d.id {
				d.step()
			}
			d.message(e.ID)
			d.say(e.Text)
		}
	case "tool_call":
		d.round() // what was said before a tool is not the final text
		d.tool(e.Tool, e.Input)
	case "error":
		if !d.failed { // a second one only says that it gives up
			d.fault(ofMessage(e.Message), e.Message)
		}
	case "completion":
		d.completion(bool(e.IsError), e.Final)
		d.closed = true
	case "result":
		d.result(bool(e.IsError), e.Result)
		d.closed = true
	default:
		return false
	}
	if e.Session != "" {
		d.report.Conversation = e.Session
	}
	if e.Rounds != nil {
		d.report.Usage.Rounds = e.Rounds
	}
	if e.Usage != nil {
		d.report.Usage.Tokens = nil
		d.add(e.Usage.tokens())
	}
	return true
}

func (d *droid) completion(isError bool, text string) {
	if isError && !d.failed {
		d.fault(ofMessage(text), text)
	}
	if len(d.text) > 0 || text != d.last { // otherwise it repeats what was said before a tool
		d.final(text)
	}
}

func (d *droid) result(isError bool, text string) {
	switch {
	case !isError:
		d.final(text)
	case !d.failed:
		d.fault(loop.EndFailed, text)
	}
}
