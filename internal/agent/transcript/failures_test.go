package transcript

import (
	"reflect"
	"strings"
	"testing"

	"codeloops/internal/loop"
)

// TestFailures: the exit codes and denials that the events tell are kept. Of a command that is
// repeated, the last end counts.
func TestFailures(t *testing.T) {
	t.Parallel()
	claudeRuns := func(id, command, result string) string {
		return `{"type":"assistant","message":{"id":"` + id + `","content":[{"id":"t` + id + `","input":{"command":"` + command + `"},"name":"Bash","type":"tool_use"}]}}` + "\n" +
			`{"type":"user","message":{"role":"user","content":[{"type":"tool_result",` + result + `,"tool_use_id":"t` + id + `"}]}}` + "\n"
	}
	const (
		claudeDenies = `{"type":"system","subtype":"permission_denied","tool_name":"Bash","tool_use_id":"td","message":"Permission to use Bash has been denied."}` + "\n"
		fails        = `"content":"Exit code 2\nno such test","is_error":true`
		works        = `"content":"ok"`
		codexRuns    = `{"type":"item.completed","item":{"id":"i","type":"command_execution","command":"npm test","aggregated_output":"","exit_code":1,"status":"failed"}}` + "\n"
		codexPasses  = `{"type":"item.completed","item":{"id":"i","type":"command_execution","command":"npm test","aggregated_output":"","exit_code":0,"status":"completed"}}` + "\n"
		codexDenies  = `{"type":"item.completed","item":{"id":"i","type":"command_execution","command":"rm x","exit_code":null,"status":"declined"}}` + "\n"
		copilotRuns  = `{"type":"tool.execution_start","data":{"toolCallId":"c","toolName":"bash","arguments":{"command":"npm test"}}}` + "\n" +
			`{"type":"tool.execution_complete","data":{"toolCallId":"c","shellExecution":{"exitCode":1},"success":true}}` + "\n"
		clineRuns = `{"type":"agent_event","event":{"type":"content_end","contentType":"tool","toolName":"run_commands","output":[{"query":"npm test","result":"[Command exited with code 1]","error":"Command exited with code 1","success":false}]}}` + "\n"
	)
	npm := loop.Failure{Act: "run `npm test`", ExitCode: 1}
	for name, test := range map[string]struct {
		format, says string
		want         []loop.Failure
	}{
		"claude":                  {"claude-stream-json", claudeRuns("a", "go test", fails), []loop.Failure{{Act: "run `go test`", ExitCode: 2}}},
		"claude, repeated":        {"claude-stream-json", claudeRuns("a", "go test", fails) + claudeRuns("b", "go test", works), nil},
		"claude, another success": {"claude-stream-json", claudeRuns("a", "go test", fails) + claudeRuns("b", "go vet", works), []loop.Failure{{Act: "run `go test`", ExitCode: 2}}},
		"claude, failed at last":  {"claude-stream-json", claudeRuns("a", "go test", works) + claudeRuns("b", "go test", fails), []loop.Failure{{Act: "run `go test`", ExitCode: 2}}},
		"claude, another error":   {"claude-stream-json", claudeRuns("a", "x", `"content":"File has not been read yet","is_error":true`), nil},
		"claude, printed":         {"claude-stream-json", claudeRuns("a", "cat log", `"content":"Exit code 1"`), nil},
		"claude, denied":          {"claude-stream-json", claudeDenies, []loop.Failure{{Act: "use a tool", Denied: true}}},
		"codex":                   {"codex-json", codexRuns, []loop.Failure{npm}},
		"codex, repeated":         {"codex-json", codexRuns + codexPasses, nil},
		"codex, denied":           {"codex-json", codexDenies, []loop.Failure{{Act: "run `rm x`", Denied: true}}},
		"copilot":                 {"copilot-json", copilotRuns, []loop.Failure{npm}},
		"cline":                   {"cline-json", clineRuns, []loop.Failure{npm}},
		"cline, repeated":         {"cline-json", clineRuns + strings.ReplaceAll(clineRuns, `"error":"Command exited with code 1","success":false`, `"success":true`), nil},
	} {
		if got := hear(t, test.format, []byte(test.says), whole).Report.Failures; len(got) != len(test.want) || len(got) > 0 && !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}

// TestFutile: a turn is futile if it used tools and none of them worked.
func TestFutile(t *testing.T) {
	t.Parallel()
	for format, one := range map[string]struct{ fails, works string }{
		"claude-stream-json": {
			`{"type":"user","message":{"content":[{"type":"tool_result","content":"File does not exist.","is_error":true,"tool_use_id":"t"}]}}`,
			`{"type":"assistant","message":{"id":"m","content":[{"id":"t","input":{"file_path":"a"},"name":"Read","type":"tool_use"}]}}` + "\n" +
				`{"type":"user","message":{"content":[{"type":"tool_result","content":"ok","tool_use_id":"t"}]}}`,
		},
		"codex-json": {
			`{"type":"item.completed","item":{"type":"command_execution","command":"ls","exit_code":1,"status":"failed"}}`,
			`{"type":"item.completed","item":{"type":"command_execution","command":"ls","exit_code":0,"status":"completed"}}`,
		},
		"copilot-json": {
			`{"type":"tool.execution_start","data":{"toolCallId":"c","toolName":"view","arguments":{"path":"/x"}}}` + "\n" +
				`{"type":"tool.execution_complete","data":{"toolCallId":"c","success":false,"error":{"code":"failure"}}}`,
			`{"type":"tool.execution_start","data":{"toolCallId":"d","toolName":"view","arguments":{"path":"/x"}}}` + "\n" +
				`{"type":"tool.execution_complete","data":{"toolCallId":"d","success":true}}`,
		},
		"cline-json": {
			`{"type":"agent_event","event":{"type":"content_end","contentType":"tool","toolName":"run_commands","output":[{"query":"ls","error":"Command exited with code 2","success":false}]}}`,
			`{"type":"agent_event","event":{"type":"content_end","contentType":"tool","toolName":"editor","output":{"query":"edit:/a","result":"ok","success":true}}}`,
		},
		"droid-stream-json":  {`{"type":"tool_result","isError":true}`, `{"type":"tool_result","isError":false}`},
		"gemini-stream-json": {`{"type":"tool_result","status":"error"}`, `{"type":"tool_result","status":"success"}`},
		"opencode-json": {
			`{"type":"tool_use","part":{"tool":"bash","state":{"status":"completed","metadata":{"exit":1}}}}` + "\n" +
				`{"type":"tool_use","part":{"tool":"read","state":{"status":"error","error":"no such file"}}}`,
			`{"type":"tool_use","part":{"tool":"bash","state":{"status":"completed","metadata":{"exit":0}}}}`,
		},
		"pi-json": {`{"type":"tool_execution_end","isError":true}`, `{"type":"tool_execution_end","isError":false}`},
	} {
		for says, want := range map[string]bool{
			"":                           false,
			one.fails:                    true,
			one.fails + "\n" + one.works: false,
			one.works + "\n" + one.fails: false,
		} {
			if got := hear(t, format, []byte(says+"\n"), whole).Report.Futile; got != want {
				t.Errorf("%s: futile is %t after %s", format, got, says)
			}
		}
	}
}
