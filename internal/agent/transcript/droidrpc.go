package transcript

import (
	"strings"

	json "github.com/go-json-experiment/json/v1"

	"codeloops/internal/loop"
)

// DroidRPC is the format of `droid exec --input-format stream-jsonrpc`: JSON-RPC in both
// directions. See [Decoder.Converse].
const DroidRPC = "droid-jsonrpc"

// droidRPC reads what Factory's Droid sends there. It gets two requests: to begin a conversation, or
// to load one, and to take the prompt. Files are added to a message's text, not to a block of
// content. A notification closes the turn.
type droidRPC struct {
	*record
	talk    *Talk // nil: nobody answers
	answers int   // to our requests so far
}

func (d *droidRPC) converse(t Talk) {
	d.talk = &t
	kept := []string{"AskUser"} // nobody is there
	if !t.Allow {
		kept = append(kept, "ApplyPatch", "Create", "Edit")
	}
	params := object{"disableBuiltinSkills": true, "disabledToolIds": kept}
	if t.Resume != "" {
		params["sessionId"] = t.Resume
		d.request("1", "droid.load_session", params)
		return
	}
	params["cwd"], params["machineId"] = t.Dir, "codeloops"
	if t.Model != "" {
		params["modelId"] = t.Model
	}
	d.request("1", "droid.initialize_session", params)
}

func (d *droidRPC) request(id, method string, params object) {
	d.send(object{"type": "request", "id": id, "method": method, "params": params})
}

func (d *droidRPC) send(message object) {
	if d.talk == nil {
		return
	}
	message["jsonrpc"], message["factoryApiVersion"] = "2.0", "1.0.0"
	line, _ := json.Marshal(message) // it holds nothing that cannot be encoded
	d.talk.Send(append(line, '\n'))
}

func (d *droidRPC) event(kind string, line []byte) bool {
	switch kind {
	case "result", "error":
		d.answer(kind, line)
	case "droid.session_notification":
		d.notification(line)
	default:
		d.refuse(line)
	}
	return true
}

// answer takes the answer to one of our requests.
func (d *droidRPC) answer(kind string, line []byte) {
	var e struct {
		ID     number `json:"id"`
		Result struct {
			Session string `json:"sessionId"`
		} `json:"result"`
		Error acpError `json:"error"`
	}
	decode(line, &e)
	if e.ID != 0 && int(e.ID) != d.answers+1 {
		return // to no request of ours
	}
	if d.answers++; kind == "error" {
		d.fault(e.Error.fault())
		d.finish()
		return
	}
	if d.answers > 1 {
		return
	}
	d.begins(e.Result.Session)
	if d.talk == nil {
		return
	}
	d.begins(d.talk.Resume)
	d.request("2", "droid.add_user_message", object{"text": "", "content": []object{{"type": "text", "text": d.talk.Prompt}}})
}

// refuse answers a request: for permission, or for something that we do not offer.
func (d *droidRPC) refuse(line []byte) {
	var e struct {
		ID string `json:"id"`
	}
	if decode(line, &e); e.ID != "" {
		d.send(object{"type": "response", "id": e.ID, "error": object{"code": -32601, "message": "not offered"}})
	}
}

func (d *droidRPC) finish() {
	d.close()
	if d.talk != nil {
		d.talk.End()
	}
}

type droidNotice struct {
	Kind    string   `json:"type"`
	Message struct { // of an error a text
		ID      string `json:"id"`
		Role    string `json:"role"`
		Content []struct {
			Type  string `json:"type"`
			Text  string `json:"text"`
			Name  string `json:"name"`
			Input input  `json:"input"`
		} `json:"content"`
	} `json:"message"`
	Failed truth  `json:"isError"`
	Reason string `json:"reason"`
	Error  loose  `json:"error"`
	Usage  counts `json:"tokenUsage"`
	Child  counts `json:"childTokenUsage"` // of subagents
}

func (d *droidRPC) notification(line []byte) {
	var e struct {
		Params struct {
			Notice droidNotice `json:"notification"`
		} `json:"params"`
	}
	decode(line, &e)
	n := e.Params.Notice
	switch n.Kind {
	case "create_message":
		if n.Message.Role == "assistant" {
			d.message(n)
		}
	case "tool_result":
		d.round()
		d.used(bool(n.Failed))
	case "llm_retry":
		d.retries(ofWord([]byte(n.Reason)), "it asks its model's service again: "+strings.ReplaceAll(n.Reason, "_", " "))
	case "error":
		d.fault(ofMessage(string(n.Error)), string(n.Error))
	case "agent_turn_completed":
		if n.Reason != "completed" && !d.failed {
			d.fault(loop.EndFailed, "it ended with "+strings.ReplaceAll(n.Reason, "_", " "))
		}
		d.add(n.Usage.tokens())
		d.add(n.Child.tokens())
		d.finish()
	}
}

func (d *droidRPC) message(n droidNotice) {
	d.step()
	d.record.message(n.Message.ID)
	for _, part := range n.Message.Content {
		switch part.Type {
		case "text":
			d.say(part.Text)
		case "tool_use":
			d.round() // what was said before a tool is not the final text
			d.tool(part.Name, part.Input)
		}
	}
}
