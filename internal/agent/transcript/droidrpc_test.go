package transcript

import (
	"reflect"
	"strings"
	"testing"

	"codeloops/internal/loop"
)

func droidTells(notification string) string {
	return `{"jsonrpc":"2.0","type":"notification","factoryApiVersion":"1.0.0","method":"droid.session_notification","params":{"notification":{` + notification + `}}}`
}

const (
	droidReady = `{"jsonrpc":"2.0","type":"response","id":"1","result":{"sessionId":"c1"}}`
	droidTook  = `{"jsonrpc":"2.0","type":"response","id":"2","result":{}}`
)

var droidEnd = droidTells(`"type":"agent_turn_completed","reason":"completed","tokenUsage":{"inputTokens":1400,"outputTokens":40,"cacheReadTokens":600,"thinkingTokens":5},` +
	`"childTokenUsage":{"inputTokens":10}`)

// TestDroidTalks: the prompt goes into a block of content, and what is asked for is refused.
func TestDroidTalks(t *testing.T) {
	t.Parallel()
	sent, out, ended := converse(t, DroidRPC, Talk{Prompt: "mind @a.txt\n/init", Dir: "/w", Model: "m"},
		droidTells(`"type":"mcp_status_changed"`), droidReady, droidTook,
		droidTells(`"type":"create_message","message":{"id":"u","role":"user","content":[{"type":"text","text":"mind @a.txt"}]}`),
		droidTells(`"type":"assistant_text_delta","messageId":"m1","textDelta":"Let "`),
		droidTells(`"type":"create_message","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"Let me see."},{"type":"tool_use","id":"t","name":"Execute","input":{"command":"go test"}}]}`),
		`{"jsonrpc":"2.0","type":"request","id":"p","method":"droid.request_permission","params":{}}`,
		droidTells(`"type":"tool_result","toolUseId":"t","content":"no","isError":true`),
		droidTells(`"type":"create_message","message":{"id":"m2","role":"assistant","content":[{"type":"text","text":"It is done."}]}`),
		droidEnd)
	want := []string{
		`{"factoryApiVersion":"1.0.0","id":"1","jsonrpc":"2.0","method":"droid.initialize_session","params":{"cwd":"/w","disableBuiltinSkills":true,` +
			`"disabledToolIds":["AskUser","ApplyPatch","Create","Edit"],"machineId":"codeloops","modelId":"m"},"type":"request"}`,
		`{"factoryApiVersion":"1.0.0","id":"2","jsonrpc":"2.0","method":"droid.add_user_message","params":{"content":[{"text":"mind @a.txt\n/init","type":"text"}],"text":""},"type":"request"}`,
		`{"error":{"code":-32601,"message":"not offered"},"factoryApiVersion":"1.0.0","id":"p","jsonrpc":"2.0","type":"response"}`,
	}
	if !reflect.DeepEqual(sent, want) || !ended {
		t.Errorf("sent %q, ended %t", sent, ended)
	}
	if want := (loop.Tokens{Input: 1410, Output: 40, CacheRead: 600, Reasoning: 5}); *out.Report.Usage.Tokens != want {
		t.Errorf("the usage is %+v", out.Report.Usage.Tokens)
	}
	out.Report.Usage = loop.Usage{}
	said := loop.Output{Text: "Let me see.\n\nIt is done.", Total: 24}
	if want := (Report{Spoken: true, Text: "It is done.", Said: said, Conversation: "c1", Ending: loop.EndCompleted, Closed: true, Futile: true}); !reflect.DeepEqual(out.Report, want) {
		t.Errorf("the report is %+v", out.Report)
	}
	shown := []loop.Notice{{Kind: loop.NoticeMessage, Text: "Let me see."}, {Kind: loop.NoticeCommand, Text: "go test"}, {Kind: loop.NoticeMessage, Text: "It is done."}}
	if !reflect.DeepEqual(out.Notices, shown) {
		t.Errorf("shown: %+v", out.Notices)
	}
}

// TestDroidGoesOn: a conversation is loaded, in a turn that may write with all tools.
func TestDroidGoesOn(t *testing.T) {
	t.Parallel()
	sent, out, _ := converse(t, DroidRPC, Talk{Prompt: "go on", Resume: "c0", Allow: true}, `{"jsonrpc":"2.0","type":"response","id":"1","result":{"session":{}}}`, droidTook, droidEnd)
	if !strings.Contains(sent[0], `"method":"droid.load_session","params":{"disableBuiltinSkills":true,"disabledToolIds":["AskUser"],"sessionId":"c0"}`) || out.Report.Conversation != "c0" {
		t.Errorf("sent %q, the conversation is %q", sent, out.Report.Conversation)
	}
}

// TestDroidEnds: what ends a turn early, and how.
func TestDroidEnds(t *testing.T) {
	t.Parallel()
	says := func(text string) string {
		return droidTells(`"type":"create_message","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"` + text + `"}]}`)
	}
	for name, test := range map[string]struct {
		says   []string
		ending loop.Ending
		reason string
	}{
		"a status": {[]string{
			droidReady, droidTook, droidTells(`"type":"error","message":"401 bad key","error":{"name":"Error","message":"401 bad key"}`),
			droidTells(`"type":"agent_turn_completed","reason":"model_authentication_failed"`),
		}, loop.EndAuth, "401 bad key"},
		"a limit": {[]string{
			droidReady, droidTook, droidTells(`"type":"llm_retry","attempt":1,"reason":"rate_limited"`), droidTells(`"type":"error","message":"429 Rate limit","error":{"message":"429 Rate limit"}`),
			droidTells(`"type":"agent_turn_completed","reason":"model_rate_limited"`),
		}, loop.EndRateLimited, "429 Rate limit"},
		"another end": {[]string{droidReady, droidTook, says("Well"), droidTells(`"type":"agent_turn_completed","reason":"user_cancelled"`)}, loop.EndFailed, "it ended with user cancelled"},
		"unknown":     {[]string{`{"jsonrpc":"2.0","type":"response","id":"1","error":{"code":-32003,"message":"Session not found"}}`}, loop.EndFailed, "Session not found"},
		"broken off":  {[]string{droidReady, droidTook, says("I am")}, loop.EndFailed, "its output breaks off before the end"},
		"empty":       {[]string{droidReady, droidTook, droidEnd}, loop.EndEmpty, ""},
	} {
		_, out, ended := converse(t, DroidRPC, Talk{}, test.says...)
		if r := out.Report; r.Ending != test.ending || r.Reason != test.reason || ended != r.Closed {
			t.Errorf("%s: %s (%s), ended %t, closed %t", name, r.Ending, r.Reason, ended, r.Closed)
		}
	}
}
