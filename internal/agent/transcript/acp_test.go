package transcript

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"codeloops/internal/loop"
)

// converse plays an agent's lines against a decoder. It returns what the decoder has sent and told.
func converse(t *testing.T, format string, talk Talk, says ...string) (sent []string, out told, ended bool) {
	t.Helper()
	d, _ := New(format, keep, func(n loop.Notice) { out.Notices = append(out.Notices, n) })
	talk.Send = func(line []byte) { sent = append(sent, strings.TrimSuffix(string(line), "\n")) }
	talk.End = func() { ended = true }
	d.Converse(talk)
	for _, line := range says {
		_, _ = d.Write([]byte(line + "\n")) // it never fails
	}
	out.Report = d.Report()
	return sent, out, ended
}

const (
	acpReady = `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}`
	acpNew   = `{"jsonrpc":"2.0","id":2,"result":{"sessionId":"c1"}}`
	acpEnd   = `{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}`
)

func acpUpdates(update string) string {
	return `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"c1","update":{` + update + `}}}`
}

func acpSays(text string) string {
	return acpUpdates(`"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` + text + `"}`)
}

const acpAsks = `{"jsonrpc":"2.0","id":"p","method":"session/request_permission","params":{"sessionId":"c1","options":[` +
	`{"optionId":"a","name":"Always","kind":"allow_always"},{"optionId":"o","name":"Yes","kind":"allow_once"},{"optionId":"r","name":"No","kind":"reject_once"}],` +
	`"toolCall":{"toolCallId":"t","status":"pending","title":"Writing to a.txt","kind":"edit","locations":[{"path":"/w/a.txt"}]}}}`

// TestConversation: the three requests are sent one after the other, the prompt as it is; what the
// agent asks for is allowed in a turn that may write, and nothing else is offered.
func TestConversation(t *testing.T) {
	t.Parallel()
	prompt := "mind @a.txt <b> & \"c\"\n\\@d\x00\u2028"
	sent, out, ended := converse(t, ACP, Talk{Prompt: prompt, Dir: "/w", Allow: true},
		acpReady, acpNew, acpSays("Let me "), acpSays("see."), acpAsks,
		acpUpdates(`"sessionUpdate":"tool_call_update","toolCallId":"t","status":"completed","title":"Writing to a.txt","kind":"edit",`+
			`"content":[{"type":"diff","path":"/w/a.txt","oldText":"a\n","newText":"b\nc\n"}]`),
		`{"jsonrpc":"2.0","id":0,"method":"fs/read_text_file","params":{"path":"/w/a.txt"}}`, `{"jsonrpc":"2.0","method":"other/news"}`,
		acpUpdates(`"sessionUpdate":"tool_call","toolCallId":"u","status":"pending","title":"Shell","kind":"execute","rawInput":{}`),
		acpUpdates(`"sessionUpdate":"tool_call_update","toolCallId":"u","status":"in_progress","title":"Shell: go test","kind":"execute","rawInput":{"command":"go test"}`),
		acpUpdates(`"sessionUpdate":"tool_call_update","toolCallId":"u","status":"failed","rawOutput":{"exitCode":3}`),
		acpSays("It is "), acpSays("done."),
		acpUpdates(`"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":""},`+
			`"_meta":{"usage":{"inputTokens":1000,"outputTokens":20,"thoughtTokens":5,"cachedReadTokens":300}}`),
		acpEnd)
	want := []string{
		`{"id":1,"jsonrpc":"2.0","method":"initialize","params":{"clientCapabilities":{},"protocolVersion":1}}`,
		`{"id":2,"jsonrpc":"2.0","method":"session/new","params":{"cwd":"/w","mcpServers":[]}}`,
		"",
		`{"id":"p","jsonrpc":"2.0","result":{"outcome":{"optionId":"o","outcome":"selected"}}}`,
		`{"error":{"code":-32601,"message":"not offered"},"id":0,"jsonrpc":"2.0"}`,
	}
	var asked struct {
		Params struct{ Prompt []struct{ Text string } }
	}
	if err := json.Unmarshal([]byte(sent[2]), &asked); err != nil || asked.Params.Prompt[0].Text != prompt {
		t.Errorf("the prompt was sent as %q, %v", sent[2], err)
	}
	sent[2] = ""
	if !reflect.DeepEqual(sent, want) || !ended {
		t.Errorf("sent %q, ended %t", sent, ended)
	}
	exits, used, rounds := out.Report.Failures, out.Report.Usage.Tokens, out.Report.Usage.Rounds
	if want := []loop.Failure{{Act: "run `go test`", ExitCode: 3}}; !reflect.DeepEqual(exits, want) {
		t.Errorf("the failures are %+v", exits)
	}
	if want := (loop.Tokens{Input: 700, Output: 20, CacheRead: 300, Reasoning: 5}); *used != want || *rounds != 1 {
		t.Errorf("the usage is %+v, %d", used, *rounds)
	}
	out.Report.Failures, out.Report.Usage = nil, loop.Usage{}
	said := loop.Output{Text: "Let me see.\n\nIt is done.", Total: 24}
	if want := (Report{Spoken: true, Text: "It is done.", Said: said, Conversation: "c1", Ending: loop.EndCompleted, Closed: true}); !reflect.DeepEqual(out.Report, want) {
		t.Errorf("the report is %+v", out.Report)
	}
	shown := []loop.Notice{
		{Kind: loop.NoticeMessage, Text: "Let me see."},
		{Kind: loop.NoticeEdit, Text: "/w/a.txt", Added: 2, Removed: 1},
		{Kind: loop.NoticeCommand, Text: "go test"},
		{Kind: loop.NoticeMessage, Text: "It is done."},
	}
	if !reflect.DeepEqual(out.Notices, shown) {
		t.Errorf("shown: %+v", out.Notices)
	}
}

// TestConversationReadOnly: a turn that may not write gets nothing allowed, and the denial is told.
func TestConversationReadOnly(t *testing.T) {
	t.Parallel()
	sent, out, _ := converse(t, ACP, Talk{}, acpReady, acpNew, acpAsks,
		acpUpdates(`"sessionUpdate":"tool_call_update","toolCallId":"t","status":"failed"`), acpSays("No."), acpEnd)
	if last := sent[len(sent)-1]; !strings.Contains(last, `"optionId":"r"`) {
		t.Errorf("answered %s", last)
	}
	if want := []loop.Failure{{Act: "change /w/a.txt", Denied: true}}; !reflect.DeepEqual(out.Report.Failures, want) || !out.Report.Futile {
		t.Errorf("the report is %+v", out.Report)
	}
}

// TestConversationGoesOn: the repetition of a conversation that is continued is not part of the turn.
func TestConversationGoesOn(t *testing.T) {
	t.Parallel()
	sent, out, _ := converse(t, ACP, Talk{Prompt: "go on", Dir: "/w", Resume: "c0"}, acpReady,
		acpSays("I said that before."), `{"jsonrpc":"2.0","id":2,"result":null}`, acpSays("More."), acpEnd)
	if !strings.Contains(sent[1], `"method":"session/load"`) || !strings.Contains(sent[1], `"sessionId":"c0"`) || !strings.Contains(sent[2], `"sessionId":"c0"`) {
		t.Errorf("sent %q", sent)
	}
	if r := out.Report; r.Text != "More." || r.Said.Text != "More." || r.Conversation != "c0" {
		t.Errorf("the report is %+v", r)
	}
}

// TestConversationEnds: what ends a conversation early, and how.
func TestConversationEnds(t *testing.T) {
	t.Parallel()
	failed := func(id, fault string) string { return `{"jsonrpc":"2.0","id":` + id + `,"error":{` + fault + `}}` }
	for name, test := range map[string]struct {
		says   []string
		ending loop.Ending
		reason string
	}{
		"a status":       {[]string{acpReady, acpNew, failed("3", `"code":401,"message":"{\"error\":{\"code\":401,\"message\":\"bad key\",\"status\":\"UNAUTHENTICATED\"}}"`)}, loop.EndAuth, "bad key"},
		"in details":     {[]string{acpReady, acpNew, failed("3", `"code":-32603,"message":"Internal error","data":{"details":"401 bad key"}`)}, loop.EndAuth, "401 bad key"},
		"a limit":        {[]string{acpReady, acpNew, failed("3", `"code":429,"message":"Rate limit exceeded. Try again later."`)}, loop.EndRateLimited, "Rate limit exceeded. Try again later."},
		"cut":            {[]string{acpReady, acpNew, acpSays("I am"), failed("3", `"code":-32603,"message":"Internal error","data":{"details":"terminated"}`)}, loop.EndOverloaded, "terminated"},
		"not signed in":  {[]string{acpReady, failed("2", `"code":-32000,"message":"Gemini API key is missing or not configured."`)}, loop.EndAuth, "Gemini API key is missing or not configured."},
		"unknown":        {[]string{acpReady, failed("2", `"code":-32602,"message":"Invalid session identifier"`)}, loop.EndFailed, "Invalid session identifier"},
		"truncated":      {[]string{acpReady, acpNew, acpSays("DECISION: D"), `{"jsonrpc":"2.0","id":3,"result":{"stopReason":"max_tokens"}}`}, loop.EndFailed, "the model stopped before it had finished: max_tokens"},
		"empty":          {[]string{acpReady, acpNew, acpEnd}, loop.EndEmpty, ""},
		"broken off":     {[]string{acpReady, acpNew, acpSays("I am")}, loop.EndFailed, "its output breaks off before the end"},
		"of another":     {[]string{acpReady, `{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}`, acpNew, acpSays("Mine."), `{"jsonrpc":"2.0","id":7,"result":{"stopReason":"end_turn"}}`}, loop.EndFailed, "its output breaks off before the end"},
		"something else": {[]string{"Usage: gemini [options]"}, loop.EndFailed, "its output is not the acp that was asked for"},
	} {
		_, out, ended := converse(t, ACP, Talk{}, test.says...)
		if r := out.Report; r.Ending != test.ending || r.Reason != test.reason || ended != r.Closed {
			t.Errorf("%s: %s (%s), ended %t, closed %t", name, r.Ending, r.Reason, ended, r.Closed)
		}
	}
}
