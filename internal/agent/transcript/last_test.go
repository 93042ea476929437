package transcript

import (
	"fmt"
	"testing"

	"codeloops/internal/loop"
)

// claudeSays is an assistant event of Claude Code.
func claudeSays(id, text string) string {
	return fmt.Sprintf(`{"type":"assistant","message":{"id":%q,"content":[{"type":"text","text":%q}],"stop_reason":null}}`+"\n", id, text)
}

func claudeEnds(result string) string {
	return fmt.Sprintf(`{"type":"result","subtype":"success","is_error":false,"result":%q}`+"\n", result)
}

// The final text is what the events say last, whatever the closing event repeats of it.
func TestLastMessage(t *testing.T) {
	t.Parallel()
	const (
		claudeBegins = `{"type":"system","subtype":"init","session_id":"s"}` + "\n"
		claudeWakes  = `{"type":"system","subtype":"task_notification","session_id":"s"}` + "\n"
		claudeWorks  = `{"type":"user","message":{"content":[]}}` + "\n"
	)
	for name, test := range map[string]struct{ format, says, want string }{
		"the closing event holds the beginning": {
			"claude-stream-json", claudeBegins + claudeSays("m", "DONE") + claudeSays("m", "Wait. CONTINUE") + claudeEnds("DONE"), "DONE\nWait. CONTINUE",
		},
		"the closing event holds the end": {
			"claude-stream-json", claudeBegins + claudeSays("m", "CONTINUE") + claudeSays("m", "DONE") + claudeEnds("DONE"), "CONTINUE\nDONE",
		},
		"the closing event holds nothing": {
			"claude-stream-json", claudeBegins + claudeSays("m", "CONTINUE") + claudeEnds(""), "CONTINUE",
		},
		"the closing event holds more": {
			"qwen-stream-json", claudeBegins + claudeSays("m", "CONTINUE") + claudeEnds("CONTINUE: two tests fail"), "CONTINUE: two tests fail",
		},
		"the closing event says something else": {
			"claude-stream-json", claudeBegins + claudeSays("m", "CONTINUE") + claudeEnds("DONE"), "CONTINUE\nDONE",
		},
		"a message without an ID": {
			"claude-stream-json", claudeBegins + claudeSays("", "I look.") + claudeSays("", "DONE") + claudeEnds("DONE"), "DONE",
		},
		"a remark before the closing event": {
			"claude-stream-json", claudeBegins + claudeSays("m", "CONTINUE") + claudeWakes + claudeSays("n", "The server has stopped.") +
				claudeEnds("The server has stopped."), "CONTINUE\nThe server has stopped.",
		},
		"nothing but the closing event": {
			"claude-stream-json", claudeBegins + claudeEnds("DONE"), "DONE",
		},
		"before a tool": {
			"claude-stream-json", claudeBegins + claudeSays("m", "I look.") + claudeWorks + claudeSays("n", "DONE") + claudeEnds("DONE"), "DONE",
		},
		"a remark on a background task": {
			"claude-stream-json", claudeBegins + claudeSays("m", "CONTINUE") + claudeEnds("CONTINUE") +
				claudeWakes + claudeSays("n", "The server has stopped.") + claudeEnds("The server has stopped."), "CONTINUE\nThe server has stopped.",
		},
		"a remark and a tool": {
			"claude-stream-json", claudeBegins + claudeSays("m", "CONTINUE") + claudeEnds("CONTINUE") +
				claudeBegins + claudeSays("n", "I look.") + claudeWorks + claudeSays("o", "The server has stopped.") + claudeEnds("The server has stopped."), "CONTINUE\nThe server has stopped.",
		},
		"another conversation": {
			"claude-stream-json", claudeBegins + claudeSays("m", "DONE") + claudeEnds("DONE") +
				`{"type":"system","subtype":"init","session_id":"other"}` + "\n" + claudeWorks + claudeSays("n", "CONTINUE") + claudeEnds("CONTINUE"), "CONTINUE",
		},
		"cline's closing event holds the beginning": {
			"cline-json", `{"type":"agent_event","event":{"type":"iteration_start"}}
{"type":"agent_event","event":{"type":"content_end","contentType":"text","text":"DONE"}}
{"type":"agent_event","event":{"type":"content_end","contentType":"text","text":"Wait. CONTINUE"}}
{"type":"run_result","finishReason":"completed","text":"DONE"}`, "DONE\nWait. CONTINUE",
		},
		"droid's message in two pieces": {
			"droid-stream-json", `{"type":"message","role":"assistant","id":"m","text":"DONE"}
{"type":"message","role":"assistant","id":"m","text":"Wait. CONTINUE"}
{"type":"completion","finalText":"DONE"}`, "DONE\nWait. CONTINUE",
		},
		"copilot's message in two pieces": {
			"copilot-json", `{"type":"assistant.message","data":{"messageId":"l","content":"I look."}}
{"type":"assistant.message","data":{"messageId":"m","content":"DONE"}}
{"type":"assistant.message","data":{"messageId":"m","content":"Wait. CONTINUE"}}
{"type":"result","exitCode":0}`, "DONE\nWait. CONTINUE",
		},
	} {
		if got := hear(t, test.format, []byte(test.says), whole).Report; got.Ending != loop.EndCompleted || got.Text != test.want {
			t.Errorf("%s: %s (%s), %q, want %q", name, got.Ending, got.Reason, got.Text, test.want)
		}
	}
}

// An output that goes on behind its closing event is whole only when it closes again.
func TestReopened(t *testing.T) {
	t.Parallel()
	again := map[string][]string{
		"claude-stream-json": {`{"type":"system","subtype":"init","session_id":"t"}`, `{"type":"user","message":{}}`, claudeSays("n", "More.")},
		"qwen-stream-json":   {`{"type":"system","subtype":"init","session_id":"t"}`, claudeSays("n", "More.")},
		"cline-json":         {`{"type":"agent_event","event":{"type":"iteration_start"}}`},
		"codex-json": {
			`{"type":"thread.started","thread_id":"u"}`, `{"type":"turn.started"}`,
			`{"type":"item.started","item":{"type":"command_execution","command":"make"}}`,
			`{"type":"item.completed","item":{"type":"agent_message","text":"More."}}`,
		},
		"copilot-json":       {`{"type":"assistant.turn_start","data":{}}`, `{"type":"assistant.message","data":{"content":"More."}}`},
		"droid-stream-json":  {`{"type":"message","role":"assistant","text":"More."}`, `{"type":"tool_call","toolName":"x"}`},
		"gemini-stream-json": {`{"type":"init","session_id":"t"}`, `{"type":"message","role":"assistant","content":"More.","delta":true}`},
		"opencode-json":      {`{"type":"step_start","sessionID":"t"}`},
		"pi-json":            {`{"type":"session","id":"t"}`, `{"type":"agent_start"}`},
	}
	for _, e := range allEnds() {
		for _, more := range again[e.format] {
			turn := fmt.Sprintf(e.turn+"%.0[1]s%.0[2]s", e.good[0], "")
			if got := hear(t, e.format, []byte(turn+more), whole).Report; got.Ending != loop.EndFailed {
				t.Errorf("%s: after %s: %s, %q", e.format, more, got.Ending, got.Text)
			}
		}
		if len(again[e.format]) == 0 {
			t.Errorf("%s is not tested", e.format)
		}
	}
}

// Whether a turn failed does not depend on how a CLI spells yes and no.
func TestSpelledTruth(t *testing.T) {
	t.Parallel()
	for spelled, want := range map[string]loop.Ending{
		`false`: loop.EndCompleted, `"false"`: loop.EndCompleted, `0`: loop.EndCompleted, `"0"`: loop.EndCompleted,
		`null`: loop.EndCompleted, `""`: loop.EndCompleted, `0.0`: loop.EndCompleted,
		`true`: loop.EndFailed, `"true"`: loop.EndFailed, `"True"`: loop.EndFailed, `1`: loop.EndFailed, `"1"`: loop.EndFailed,
		`"yes"`: loop.EndFailed, `{}`: loop.EndFailed, `-1`: loop.EndFailed,
	} {
		for format, says := range map[string]string{
			"claude-stream-json": `{"type":"result","subtype":"success","is_error":` + spelled + `,"result":"DONE"}`,
			"qwen-stream-json":   `{"type":"result","subtype":"success","is_error":` + spelled + `,"result":"DONE"}`,
			"droid-stream-json":  `{"type":"completion","is_error":` + spelled + `,"finalText":"DONE"}`,
			"copilot-json":       `{"type":"assistant.message","data":{"content":"DONE"}}` + "\n" + `{"type":"result","exitCode":` + spelled + `}`,
		} {
			if got := hear(t, format, []byte(says), whole).Report; got.Ending != want {
				t.Errorf("%s, %s: %s, want %s", format, spelled, got.Ending, want)
			}
		}
	}
}

// TestDenied: a turn that says nothing names what it was not allowed to do.
func TestDenied(t *testing.T) {
	t.Parallel()
	const hint = "; allow it in the agent's settings, or in its command"
	for name, test := range map[string]struct{ format, says, want string }{
		"a command": {
			"claude-stream-json", `{"type":"result","subtype":"success","is_error":false,"result":"","permission_denials":[` +
				`{"tool_name":"Bash","tool_use_id":"t","tool_input":{"command":"npm test"}},{"tool_name":"Bash","tool_input":{"command":"true"}}]}`,
			"it was not allowed to run `npm test`" + hint,
		},
		"a file": {
			"claude-stream-json", `{"type":"result","subtype":"success","is_error":false,"result":"","permission_denials":[{"tool_name":"Write","tool_input":{"file_path":"/a.txt"}}]}`,
			"it was not allowed to change /a.txt" + hint,
		},
		"another tool": {
			"claude-stream-json", `{"type":"result","subtype":"success","is_error":false,"result":"","permission_denials":[{"tool_name":"WebFetch"}]}`,
			"it was not allowed to use WebFetch" + hint,
		},
		"copilot's": {
			"copilot-json", `{"type":"tool.execution_start","data":{"toolCallId":"c","toolName":"bash","arguments":{"command":"npm test"}}}
{"type":"tool.execution_complete","data":{"toolCallId":"c","success":false,"error":{"message":"Permission denied because no interactive user response was available.","code":"denied"}}}
{"type":"result","exitCode":0}`,
			"it was not allowed to run `npm test`" + hint,
		},
		"none": {"copilot-json", `{"type":"result","exitCode":0}`, ""},
	} {
		if got := hear(t, test.format, []byte(test.says), whole).Report; got.Ending != loop.EndEmpty || got.Reason != test.want {
			t.Errorf("%s: %s, %q, want %q", name, got.Ending, got.Reason, test.want)
		}
	}
}
