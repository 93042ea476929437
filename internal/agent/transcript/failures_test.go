package transcript

import (
	"reflect"
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
	} {
		if got := hear(t, test.format, []byte(test.says), whole).Report.Failures; len(got) != len(test.want) || len(got) > 0 && !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}
