package transcript

import (
	"cmp"
	"maps"
	"slices"

	json "github.com/go-json-experiment/json/v1"

	"codeloops/internal/loop"
)

// ACP is the format of the Agent Client Protocol (agentclientprotocol.com), version 1:
// JSON-RPC in both directions. See [Decoder.Converse].
const ACP = "acp"

// A Talk is our side of an output that wants answers.
type Talk struct {
	Prompt string
	Dir    string // the working directory, absolute
	// Resume is the conversation to continue; "": a new one.
	Resume string
	Name   string // for a new conversation, if the agent takes one: a UUID; "": none
	Model  string // "": the agent's own choice; for agents that are not told by their arguments
	Allow  bool   // everything that the agent asks for is allowed, not only to look and to run commands
	// Send sends a line to the agent, End ends its input. Neither may block.
	Send func(line []byte)
	End  func()
}

// Converse makes the decoder answer the agent, and begins. It must be called before Write. Only
// for the formats [ACP] and [DroidRPC].
func (d *Decoder) Converse(t Talk) {
	if s, ok := d.dialect.(speaker); ok {
		s.converse(t)
	}
}

// A speaker is a dialect that answers the agent.
type speaker interface{ converse(Talk) }

// acp reads what an agent sends in the Agent Client Protocol. The agent gets three requests, one
// after the other: initialize, session/new or session/load, session/prompt. The answer to the
// last one is its closing event.
type acp struct {
	*record
	talk    *Talk           // nil: nobody answers
	answers int             // to our requests so far
	shown   map[string]bool // the running calls that have been reported, by their IDs
}

type object = map[string]any

func (a *acp) converse(t Talk) {
	a.talk = &t
	a.request("initialize", object{"protocolVersion": 1, "clientCapabilities": object{}})
}

func (a *acp) event(kind string, line []byte) bool {
	switch kind {
	case "result", "error":
		a.answer(kind, line)
	case "session/update":
		a.update(line)
	case "session/request_permission":
		a.permission(line)
	default:
		a.refuse(line)
	}
	return true
}

// request sends the next request.
func (a *acp) request(method string, params object) {
	a.send(object{"id": a.answers + 1, "method": method, "params": params})
}

func (a *acp) send(message object) {
	if a.talk == nil {
		return
	}
	message["jsonrpc"] = "2.0"
	line, _ := json.Marshal(message) // it holds nothing that cannot be encoded
	a.talk.Send(append(line, '\n'))
}

// answer takes the agent's answer to our last request.
func (a *acp) answer(kind string, line []byte) {
	var e struct {
		ID     number    `json:"id"`
		Result acpResult `json:"result"`
		Error  acpError  `json:"error"`
	}
	decode(line, &e)
	if e.ID != 0 && int(e.ID) != a.answers+1 {
		return // to no request of ours
	}
	a.whole()
	a.answers++
	switch {
	case kind == "error":
		a.fault(e.Error.fault())
		if e.Error.Code >= 400 && e.Error.Code < 600 { // a status
			a.answered()
		}
		a.finish()
	case a.answers == 1:
		a.open()
	case a.answers == 2:
		a.begins(e.Result.Session)
		if a.talk != nil {
			a.begins(a.talk.Resume)
			a.request("session/prompt", object{
				"sessionId": a.report.Conversation, "prompt": []object{{"type": "text", "text": a.talk.Prompt}},
			})
		}
	default:
		a.result(e.Result)
		a.finish()
	}
}

// open asks for a conversation.
func (a *acp) open() {
	if a.talk == nil {
		return
	}
	params := object{"cwd": a.talk.Dir, "mcpServers": []any{}}
	method := "session/new"
	if a.talk.Resume != "" {
		method, params["sessionId"] = "session/load", a.talk.Resume
	} else if a.talk.Name != "" {
		params["_meta"] = object{"qwen-code/sessionId": a.talk.Name}
	}
	a.request(method, params)
}

// permission answers an agent that asks whether it may use a tool.
func (a *acp) permission(line []byte) {
	var e struct {
		ID     json.RawMessage `json:"id"`
		Params struct {
			Call    acpUpdate `json:"toolCall"`
			Options []struct {
				ID   string `json:"optionId"`
				Kind string `json:"kind"`
			} `json:"options"`
		} `json:"params"`
	}
	decode(line, &e)
	want := "reject"
	looks := slices.Contains([]string{"execute", "read", "search", "think"}, e.Params.Call.Kind)
	if a.talk != nil && (a.talk.Allow || looks) {
		want = "allow"
	}
	outcome := object{"outcome": "cancelled"}
	for _, kind := range []string{want + "_always", want + "_once"} { // the last one counts
		for _, o := range e.Params.Options {
			if o.Kind == kind {
				outcome = object{"outcome": "selected", "optionId": o.ID}
			}
		}
	}
	if want == "reject" {
		a.show(e.Params.Call)
		a.shown[e.Params.Call.ID] = true
		a.done(e.Params.Call.ID, true, 0, true)
	}
	a.send(object{"id": e.ID, "result": object{"outcome": outcome}})
}

// refuse answers a request for something that we do not offer.
func (a *acp) refuse(line []byte) {
	var e struct {
		ID json.RawMessage `json:"id"`
	}
	if decode(line, &e); len(e.ID) > 0 {
		a.send(object{"id": e.ID, "error": object{"code": -32601, "message": "not offered"}})
	}
}

func (a *acp) finish() {
	a.close()
	if a.talk != nil {
		a.talk.End()
	}
}

type acpResult struct {
	Session string `json:"sessionId"`
	Stop    string `json:"stopReason"`
	Meta    struct {
		Quota struct {
			Tokens counts `json:"token_count"`
		} `json:"quota"`
	} `json:"_meta"`
}

// result takes the answer to the prompt. Gemini CLI adds what it has used, as far as it counts
// that: nothing tells how much of it came from a cache, and reasoning is not in it.
func (a *acp) result(r acpResult) {
	a.stops(cmp.Or(r.Stop, "no reason"), "end_turn")
	if r.Meta.Quota.Tokens != nil {
		a.add(r.Meta.Quota.Tokens.tokens())
		a.report.Usage.TokensEstimated = true
	}
}

type acpError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    struct {
		Details loose `json:"details"`
	} `json:"data"`
}

// acpAuth is the protocol's code for a missing login.
const acpAuth = -32000

func (e acpError) fault() (loop.Ending, string) {
	reason := cmp.Or(string(e.Data.Details), e.Message, "its request failed")
	if ending, inner := answered(reason); inner != "" {
		return ending, inner
	}
	ending, plain := apiError(reason)
	if ending == loop.EndFailed {
		ending = ofFault(e.Code, plain)
	}
	if e.Code == acpAuth {
		ending = loop.EndAuth
	}
	return ending, plain
}

// acpUpdate is a piece of a message, or what is new of a call of a tool.
type acpUpdate struct {
	Update  string          `json:"sessionUpdate"`
	Content json.RawMessage `json:"content"`
	Meta    struct {
		Usage counts `json:"usage"`
	} `json:"_meta"`

	ID     string `json:"toolCallId"`
	Status string `json:"status"`
	Title  string `json:"title"`
	Kind   string `json:"kind"`
	Input  input  `json:"rawInput"`
	Output struct {
		Exit int `json:"exitCode"`
	} `json:"rawOutput"`
	Locations []struct {
		Path string `json:"path"`
	} `json:"locations"`
}

// update takes what happens in the conversation. What comes before the prompt is a repetition of
// an earlier part of it.
func (a *acp) update(line []byte) {
	var e struct {
		Params struct {
			Update acpUpdate `json:"update"`
		} `json:"params"`
	}
	decode(line, &e)
	u := e.Params.Update
	if a.answers < 2 {
		return
	}
	switch u.Update {
	case "agent_message_chunk":
		var content struct {
			Text string `json:"text"`
		}
		decode(u.Content, &content)
		a.closed = false
		a.piece(content.Text)
		if t := u.Meta.Usage; t != nil {
			a.spends(t)
		}
	case "tool_call", "tool_call_update":
		a.round() // what was said before a tool is not the final text
		a.act(u)
	}
}

// acpDiff is a file before and after an edit.
type acpDiff struct {
	Path string `json:"path"`
	Old  string `json:"oldText"`
	New  string `json:"newText"`
}

func (u acpUpdate) diffs() (all []acpDiff) {
	decode(u.Content, &all)
	return slices.DeleteFunc(all, func(d acpDiff) bool { return d.Old == d.New })
}

// act reports a call once it has begun, and how it has ended.
func (a *acp) act(u acpUpdate) {
	ended := u.Status == "completed" || u.Status == "failed"
	if !ended && u.Status != "in_progress" {
		return // its input is not known yet
	}
	if !a.shown[u.ID] {
		a.show(u)
	}
	a.shown[u.ID] = true
	if !ended {
		return
	}
	delete(a.shown, u.ID)
	a.done(u.ID, u.Status == "failed", u.Output.Exit, false)
}

// show reports what a call does, as far as it has been told.
func (a *acp) show(u acpUpdate) {
	name, in := cmp.Or(u.Title, u.Kind), input{arguments: arguments{}}
	maps.Copy(in.arguments, u.Input.arguments)
	if len(u.Locations) > 0 {
		in.arguments["file_path"] = loose(u.Locations[0].Path)
	}
	switch u.Kind {
	case "edit", "delete", "move":
		name = "edit"
		for _, d := range u.diffs() {
			in.edits = append(in.edits, arguments{"old_string": loose(d.Old), "new_string": loose(d.New)})
			in.arguments["file_path"] = loose(d.Path)
		}
	case "execute":
		in.arguments["command"] = loose(cmp.Or(in.first("command"), u.Title))
	}
	a.tool(name, in)
	a.call(u.ID, name, in)
}

// spends takes the usage of a request to the model, which Qwen Code adds to its last piece.
func (a *acp) spends(c counts) {
	t := c.tokens()
	t.Input -= t.CacheRead
	a.add(t)
	a.asked()
}
