package transcript

import (
	"testing"

	"codeloops/internal/loop"
)

// TestRunning: a turn without a closing event counts what its messages have told, which the
// closing event replaces.
func TestRunning(t *testing.T) {
	t.Parallel()
	const (
		one  = `{"type":"assistant","message":{"id":"a","content":[],"usage":{"input_tokens":700,"output_tokens":1,"cache_read_input_tokens":300}}}` + "\n"
		more = `{"type":"assistant","message":{"id":"a","content":[],"usage":{"input_tokens":700,"output_tokens":20,"cache_read_input_tokens":300}}}` + "\n"
		sub  = `{"type":"assistant","parent_tool_use_id":"t","message":{"id":"b","content":[],"usage":{"input_tokens":400,"output_tokens":5}}}` + "\n"
		ends = `{"type":"result","subtype":"success","is_error":false,"result":"OK","usage":{"input_tokens":2000,"output_tokens":60}}` + "\n"
		bare = `{"type":"result","subtype":"success","is_error":false,"result":"OK"}` + "\n"
		wake = `{"type":"assistant","message":{"id":"c","content":[],"usage":{"input_tokens":10,"output_tokens":2}}}` + "\n"
		uses = `{"type":"agent_event","event":{"type":"usage","inputTokens":1000,"outputTokens":20,"cacheReadTokens":300,"totalInputTokens":2000,"totalCost":0.5}}` + "\n"
	)
	for name, test := range map[string]struct {
		format, says string
		want         loop.Tokens
		running      bool
	}{
		"one message, told in pieces": {"claude-stream-json", one + more, loop.Tokens{Input: 700, Output: 20, CacheRead: 300}, true},
		"with a subagent's":           {"claude-stream-json", one + sub + more + sub, loop.Tokens{Input: 1100, Output: 25, CacheRead: 300}, true},
		"as OpenAI counts":            {"qwen-stream-json", one, loop.Tokens{Input: 400, Output: 1, CacheRead: 300}, true},
		"closed":                      {"claude-stream-json", more + sub + ends, loop.Tokens{Input: 2000, Output: 60}, false},
		"closed without counts":       {"claude-stream-json", more + bare, loop.Tokens{Input: 700, Output: 20, CacheRead: 300}, true},
		"woken after it had closed":   {"claude-stream-json", more + ends + wake, loop.Tokens{Input: 2010, Output: 62}, false},
		"cline":                       {"cline-json", uses + uses, loop.Tokens{Input: 1400, Output: 40, CacheRead: 600}, false},
	} {
		got := hear(t, test.format, []byte(test.says), whole).Report
		if got.Usage.Tokens == nil || *got.Usage.Tokens != test.want || got.Running != test.running {
			t.Errorf("%s: %+v, running %t", name, got.Usage.Tokens, got.Running)
		}
		if test.format == "cline-json" && (got.Usage.CostUSD == nil || *got.Usage.CostUSD != 0.5) {
			t.Errorf("%s: it costs %v", name, got.Usage.CostUSD)
		}
	}
}
