package transcript

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"codeloops/internal/loop"
)

// A whole turn in each format. The first placeholder is for the stop reason of the last
// message, the second for an event before the end.
const (
	claudeTurn = `{"type":"system","subtype":"init","session_id":"s"}
{"type":"assistant","message":{"content":[{"type":"text","text":"I look."},{"type":"tool_use","name":"Bash","input":{"command":"ls"}}],"stop_reason":"tool_use"}}
{"type":"user","message":{"content":[]}}
{"type":"assistant","message":{"content":[{"type":"text","text":"DECISION: DONE"}],"stop_reason":null}}
%[2]s
{"type":"result","subtype":"success","is_error":false,"result":"DECISION: DONE"%[1]s}
`
	codexTurn = `{"type":"thread.started","thread_id":"t"}
{"type":"turn.started"}
{"type":"item.completed","item":{"type":"agent_message","text":"DECISION: DONE"}}
%[2]s
{"type":"turn.completed","usage":{"input_tokens":1}}
`
	geminiTurn = `{"type":"init","session_id":"s"}
{"type":"message","role":"assistant","content":"DECISION: DONE","delta":true}
%[2]s
{"type":"result","status":"%[1]s"}
`
	openCodeTurn = `{"type":"step_start","sessionID":"s"}
{"type":"text","part":{"text":"I look."}}
{"type":"step_finish","part":{"reason":"tool-calls"}}
{"type":"step_start","sessionID":"s"}
{"type":"text","part":{"text":"DECISION: DONE"}}
%[2]s
{"type":"step_finish","part":{%[1]s}}
`
	piTurn = `{"type":"session","id":"s"}
{"type":"agent_start"}
{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"I look."}],"stopReason":"toolUse"}}
{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"DECISION: DONE"}]%[1]s}}
%[2]s
{"type":"agent_end","messages":[]}
`
	copilotTurn = `{"type":"assistant.turn_start","data":{}}
{"type":"assistant.message","data":{"content":"DECISION: DONE"}}
%[2]s
{"type":"result","sessionId":"s","exitCode":%[1]s}
`
	droidTurn = `{"type":"system","subtype":"init","session_id":"s"}
{"type":"message","role":"assistant","text":"DECISION: DONE"}
%[2]s
{"type":"completion","finalText":"DECISION: DONE"}
`
	clineTurn = `{"type":"agent_event","event":{"type":"iteration_start"}}
{"type":"agent_event","event":{"type":"content_end","contentType":"text","text":"DECISION: DONE"}}
%[2]s
{"type":"run_result","finishReason":"%[1]s","text":"DECISION: DONE"}
`
)

// ends holds turns of one format: possible endings, and events before them.
type ends struct {
	format string
	turn   string
	good   []string // the model itself ended the turn
	bad    []string // other endings; the reason contains the last quoted word
	notes  []string // events that may precede a good ending
	errors []string // events that may not; the reason contains "trouble"
}

func allEnds() []ends {
	claude := ends{
		turn: claudeTurn,
		good: []string{
			``, `,"stop_reason":null`, `,"stop_reason":"end_turn"`, `,"stop_reason":"stop_sequence"`,
			`,"terminal_reason":"completed"`, `,"stop_reason":"end_turn","terminal_reason":"completed"`,
		},
		bad: []string{
			`,"stop_reason":"max_tokens"`, `,"stop_reason":"tool_use"`, `,"stop_reason":"refusal"`, `,"stop_reason":"pause_turn"`,
			`,"stop_reason":"model_context_window_exceeded"`, `,"stop_reason":"of tomorrow"`,
			`,"terminal_reason":"max_turns"`, `,"terminal_reason":"hook_stopped"`, `,"terminal_reason":"of tomorrow"`,
			`,"stop_reason":"end_turn","subtype":"error_max_turns"`, `,"subtype":"error_during_execution"`,
			`,"subtype":"error_max_budget_usd"`, `,"subtype":"of tomorrow"`,
			`,"terminal_reason":"completed","stop_reason":"max_tokens"`,
		},
		notes: []string{
			`{"type":"system","subtype":"api_retry","attempt":1,"max_retries":10,"error_status":529,"error":"trouble"}
{"type":"assistant","message":{"content":[{"type":"text","text":"DECISION: DONE"}],"stop_reason":"end_turn"}}`,
			`{"type":"assistant","error":"max_output_tokens","message":{"content":[{"type":"text","text":"trouble"}]}}
{"type":"assistant","message":{"content":[{"type":"text","text":"DECISION: DONE"}]}}`,
			`{"type":"assistant","parent_tool_use_id":"x","message":{"content":[],"stop_reason":"max_tokens"}}`,
		},
		errors: []string{
			`{"type":"assistant","message":{"content":[{"type":"text","text":"DECISION: DONE"}],"stop_reason":"trouble"}}`,
			`{"type":"assistant","error":"trouble","message":{"content":[{"type":"text","text":"no"}]}}`,
			`{"type":"result","subtype":"success","is_error":true,"result":"trouble"}`,
			`{"type":"result","subtype":"error_of_trouble","is_error":false,"result":"DECISION: DONE"}`,
		},
	}
	qwen := claude
	claude.format, qwen.format = "claude-stream-json", "qwen-stream-json"
	return []ends{
		claude, qwen,
		{
			format: "codex-json", turn: codexTurn, good: []string{``},
			notes: []string{
				`{"type":"error","message":"Reconnecting... 1/5 (stream disconnected before completion: trouble)"}`,
				`{"type":"item.completed","item":{"type":"error","message":"trouble"}}`,
			},
			errors: []string{
				`{"type":"error","message":"trouble"}`,
				`{"type":"error","message":"stream disconnected before completion: trouble"}`,
				`{"type":"turn.failed","error":{"message":"trouble"}}`,
			},
		},
		{
			format: "gemini-stream-json", turn: geminiTurn, good: []string{`success`}, bad: []string{`error`, `cancelled`, ``, `of tomorrow`},
			notes: []string{`{"type":"error","severity":"warning","message":"Agent execution blocked: trouble"}
{"type":"message","role":"assistant","content":"DECISION: DONE","delta":true}`},
			errors: []string{
				`{"type":"error","severity":"warning","message":"Loop detected, trouble"}`,
				`{"type":"error","severity":"error","message":"Maximum session turns: trouble"}`,
				`{"type":"error","message":"trouble"}`,
				`{"type":"result","status":"error","error":{"message":"trouble"}}`,
				`{"type":"result","status":"success","error":{"message":"trouble"}}`,
			},
		},
		{
			format: "opencode-json", turn: openCodeTurn, good: []string{`"reason":"stop"`},
			bad: []string{
				`"reason":"length"`, `"reason":"content-filter"`, `"reason":"error"`, `"reason":"other"`, `"reason":"unknown"`,
				`"reason":"of tomorrow"`, `"reason":"tool-calls"`, ``,
			},
			notes: []string{`{"type":"tool_use","part":{"tool":"bash","state":{"error":"trouble"}}}`},
			errors: []string{
				`{"type":"error","error":{"name":"UnknownError","data":{"message":"trouble"}}}`,
				`{"type":"error","error":{"name":"trouble"}}` + "\n" + `{"type":"step_start"}` + "\n" + `{"type":"text","part":{"text":"DECISION: DONE"}}`,
			},
		},
		{
			format: "pi-json", turn: piTurn, good: []string{`,"stopReason":"stop"`},
			bad: []string{
				`,"stopReason":"length"`, `,"stopReason":"error"`, `,"stopReason":"aborted"`, `,"stopReason":"toolUse"`, ``,
				`,"stopReason":"of tomorrow"`,
			},
			notes: []string{`{"type":"auto_retry_start","errorMessage":"trouble"}
{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"DECISION: DONE"}],"stopReason":"stop"}}`},
			errors: []string{
				`{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"DECISION: DONE"}],"stopReason":"error","errorMessage":"trouble"}}`,
				`{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"DECISION: DONE"}],"stopReason":"trouble"}}`,
			},
		},
		{
			format: "copilot-json", turn: copilotTurn, good: []string{`0`}, bad: []string{`1`, `130`},
			notes: []string{`{"type":"session.info","data":{"infoType":"model_retry","message":"trouble"}}`},
			errors: []string{
				`{"type":"session.error","data":{"errorType":"query","message":"trouble"}}`,
				`{"type":"session.error","data":{"errorType":"rate_limit","statusCode":429,"message":"trouble"}}`,
				`{"type":"session.error","data":{"message":"trouble"}}` + "\n" + `{"type":"assistant.message","data":{"content":"DECISION: DONE"}}`,
			},
		},
		{
			format: "droid-stream-json", turn: droidTurn, good: []string{``},
			errors: []string{
				`{"type":"error","source":"agent_loop","message":"trouble"}`,
				`{"type":"error","source":"cli","message":"trouble"}`,
				`{"type":"error","message":"trouble"}` + "\n" + `{"type":"message","role":"assistant","text":"DECISION: DONE"}`,
				`{"type":"result","is_error":true,"result":"trouble"}`,
				`{"type":"completion","finalText":"trouble","is_error":true}`,
			},
		},
		{
			format: "cline-json", turn: clineTurn, good: []string{`completed`},
			bad:    []string{`max_iterations`, `aborted`, `mistake_limit`, `error`, ``, `of tomorrow`},
			notes:  []string{`{"type":"agent_event","event":{"type":"error","recoverable":true,"error":{"message":"trouble"}}}`},
			errors: []string{`{"type":"agent_event","event":{"type":"error","recoverable":false,"error":{"message":"trouble"}}}`},
		},
	}
}

// played returns the report on a turn with the given ending and an event before it.
func (e ends) played(t *testing.T, end, before string) Report {
	t.Helper()
	return hear(t, e.format, fmt.Appendf(nil, e.turn+"%.0[1]s%.0[2]s", end, before), whole).Report
}

// A turn is completed if its format says that the model itself ended it.
func TestGoodEnds(t *testing.T) {
	t.Parallel()
	formats := Formats()
	for _, e := range allEnds() {
		formats = slices.DeleteFunc(formats, func(f string) bool { return f == e.format })
		for _, end := range e.good {
			for _, note := range append(e.notes, "") {
				if got := e.played(t, end, note); got.Ending != loop.EndCompleted || !strings.HasSuffix(got.Text, "DECISION: DONE") {
					t.Errorf("%s: after %s, %q: %s, %s, %q", e.format, note, end, got.Ending, got.Reason, got.Text)
				}
			}
		}
	}
	if len(formats) > 0 {
		t.Errorf("the endings of %v are not tested", formats)
	}
}

// A turn with any other ending has failed, and the reason names it.
func TestBadEnds(t *testing.T) {
	t.Parallel()
	for _, e := range allEnds() {
		for _, end := range e.bad {
			got := e.played(t, end, "")
			unnamed := strings.Contains(end, "tomorrow") && !strings.Contains(got.Reason, "of tomorrow")
			if got.Ending != loop.EndFailed || got.Reason == "" || unnamed {
				t.Errorf("%s: %q: %s, %s", e.format, end, got.Ending, got.Reason)
			}
		}
	}
}

// A good ending does not cancel an earlier error.
func TestErrorsStay(t *testing.T) {
	t.Parallel()
	for _, e := range allEnds() {
		for _, end := range e.good {
			for _, trouble := range e.errors {
				got := e.played(t, end, trouble)
				good := got.Ending == loop.EndCompleted || got.Ending == loop.EndEmpty
				if good || !strings.Contains(got.Reason, "trouble") {
					t.Errorf("%s: after %s, %q: %s, %s", e.format, trouble, end, got.Ending, got.Reason)
				}
			}
		}
	}
}
