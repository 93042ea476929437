package transcript

import (
	"runtime"
	"strings"
	"testing"

	"codeloops/internal/loop"
)

// TestMemoryIsFlat: the heap grows by only a fraction of the streamed output.
//
//nolint:paralleltest // it measures the heap, which others would fill meanwhile
func TestMemoryIsFlat(t *testing.T) {
	if testing.Short() {
		t.Skip("some hundred megabytes of output")
	}
	for _, s := range samples(t) {
		if !strings.Contains(s.name, "/actor-") {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			total, most := 6<<20, int64(3<<20)
			if s.format == "codex-json" {
				total = 64 << 20
			}
			d, _ := New(s.format, 8<<10, func(loop.Notice) {})
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			for n := 0; n < total; n += len(s.stdout) {
				_, _ = d.Write(s.stdout)
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > most {
				t.Errorf("the heap has grown by %d bytes", grown)
			}
			if r := d.Report(); r.Ending != loop.EndCompleted || len(r.Said.Text) > 9<<10 || r.Said.Omitted == 0 {
				t.Errorf("ended as %s with %d bytes of text, %d omitted", r.Ending, len(r.Said.Text), r.Said.Omitted)
			}
			runtime.KeepAlive(d)
		})
	}
}

// TestLongLine: lines that are too long are abridged. If one is still too long, its type
// is kept, because it may be the closing event.
func TestLongLine(t *testing.T) {
	t.Parallel()
	long, many := strings.Repeat("x", maxLine), strings.Repeat(`"x",`, maxLine/4)
	events := `{"type":"session","id":"s1"}
{"type":"message_end","message":{"role":"user","content":[{"type":"text","text":"` + long + `"}]}}
{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"DECISION: DONE"}],"stopReason":"stop"}}
` + long + `
{"type":"tool_execution_end","result":[` + many + `"x"]}
{"other":{"type":"agent_start"},"type":"agent_end","messages":["` + long + `"]}
`
	sizes := []int{1 << 30, 4096, 65_537}
	if testing.Short() {
		sizes = sizes[2:]
	}
	for _, size := range sizes {
		got := hear(t, "pi-json", []byte(events), func() int { return size })
		if got.Report.Ending != loop.EndCompleted || got.Report.Text != "DECISION: DONE" || got.Report.Conversation != "s1" {
			t.Errorf("in pieces of %d: %+v", size, got.Report)
		}
		if len(got.Notices) != 3 { // the message, and two lines that are still too long
			t.Errorf("in pieces of %d: %d notices", size, len(got.Notices))
		}
	}
}

// TestLongText reads a line just below the maximum length.
func TestLongText(t *testing.T) {
	t.Parallel()
	needsTime(t)
	text := strings.Repeat("ü", (maxLine-200)/2)
	line := `{"type":"item.completed","item":{"type":"agent_message","text":"` + text + `"}}` + "\n" + `{"type":"turn.completed"}`
	got := hear(t, "codex-json", []byte(line), func() int { return 32 << 10 }).Report
	if got.Text != text || got.Ending != loop.EndCompleted {
		t.Errorf("%d of %d bytes, %s", len(got.Text), len(text), got.Ending)
	}
	if len(got.Said.Text) > keep+100 || got.Said.Omitted < int64(len(text)-keep) || got.Said.Total != int64(len(text)) {
		t.Errorf("said %d bytes, total %d, omitted %d", len(got.Said.Text), got.Said.Total, got.Said.Omitted)
	}
	if strings.ContainsRune(got.Said.Text, '\uFFFD') || !strings.Contains(got.Said.Text, "bytes omitted …]\n") {
		t.Error("the excerpt is cut inside a character, or does not say what is missing")
	}
}

// TestNotTheFormat checks the ending when a program prints something else.
func TestNotTheFormat(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]string{
		"nothing":     "",
		"text":        "DECISION: DONE\nSUMMARY: \x1b[31mred\x1b[0m\n",
		"other JSON":  "{\"type\":\"log\"}\n[]\n{\"type\":5}\n{\"a\":1}\n",
		"half a line": `{"type":"resu`,
		"bytes":       "\x00\xff\xfe\n{\xff}\n",
	} {
		for _, format := range Formats() {
			got := hear(t, format, []byte(in), whole)
			want := "its output is not the " + format + " that was asked for"
			if got.Report.Ending != loop.EndFailed || got.Report.Reason != want || got.Report.Spoken {
				t.Errorf("%s as %s: %+v", name, format, got.Report)
			}
			for _, n := range got.Notices {
				if strings.ContainsAny(n.Text, "{[\x1b\x00") {
					t.Errorf("%s as %s: notice %q", name, format, n.Text)
				}
			}
		}
	}
}

func TestRejectedLimitSaysWhen(t *testing.T) {
	t.Parallel()
	events := `{"type":"rate_limit_event","rate_limit_info":{"status":"allowed","resetsAt":1}}
{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1795300000,"rateLimitType":"five_hour"}}
{"type":"assistant","error":"rate_limit","message":{"content":[{"type":"text","text":"You've hit your limit"}]}}
{"type":"result","is_error":true,"subtype":"success","result":"You've hit your limit","api_error_status":429}
`
	got := hear(t, "claude-stream-json", []byte(events), whole).Report
	if got.Ending != loop.EndRateLimited || got.ResetAt.Unix() != 1795300000 || got.Reason != "You've hit your limit" || got.Text != "" {
		t.Errorf("got %+v", got)
	}
}

// TestNotices checks each kind of notice in all formats.
func TestNotices(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		format, event string
		want          loop.Notice
	}{
		{
			"claude-stream-json", `{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Bash","input":{"command":"go test\n./..."}}]}}`,
			loop.Notice{Kind: loop.NoticeCommand, Text: "go test ./..."},
		},
		{
			"claude-stream-json", `{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Read","input":{"file_path":"a.go"}}]}}`,
			loop.Notice{Kind: loop.NoticeTool, Text: "Read a.go"},
		},
		{
			"claude-stream-json", `{"type":"assistant","parent_tool_use_id":"x","message":{"content":[{"type":"text","text":"inner"},{"type":"tool_use","name":"Grep","input":{"pattern":5}}]}}`,
			loop.Notice{Kind: loop.NoticeTool, Text: "Grep"},
		},
		{
			"claude-stream-json", `{"type":"result","permission_denials":[{"tool_name":"Write"}]}`,
			loop.Notice{Kind: loop.NoticeProblem, Text: "it was not allowed to use Write"},
		},
		{
			"codex-json", `{"type":"item.started","item":{"type":"command_execution","command":["bash","-lc","ls"]}}`,
			loop.Notice{Kind: loop.NoticeCommand, Text: "bash -lc ls"},
		},
		{
			"codex-json", `{"type":"item.completed","item":{"type":"file_change","changes":[{"path":"b.go","kind":"add"}]}}`,
			loop.Notice{Kind: loop.NoticeEdit, Text: "b.go"},
		},
		{
			"codex-json", `{"type":"item.started","item":{"type":"mcp_tool_call","server":"s","tool":"t"}}`,
			loop.Notice{Kind: loop.NoticeTool, Text: "s t"},
		},
		{
			"codex-json", `{"type":"item.completed","item":{"type":"web_search","query":"q"}}`,
			loop.Notice{Kind: loop.NoticeTool, Text: "web search q"},
		},
		{
			"opencode-json", `{"type":"tool_use","part":{"tool":"bash","state":{"input":{"command":"make"}}}}`,
			loop.Notice{Kind: loop.NoticeCommand, Text: "make"},
		},
		{
			"pi-json", `{"type":"auto_retry_start","errorMessage":"429 slow\u001b[31m down"}`,
			loop.Notice{Kind: loop.NoticeProblem, Text: "429 slow down"},
		},
		{
			"gemini-stream-json", `{"type":"tool_use","tool_name":"run_shell_command","parameters":{"command":"ls -la"}}`,
			loop.Notice{Kind: loop.NoticeCommand, Text: "ls -la"},
		},
		{
			"claude-stream-json", `{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Edit","input":{"file_path":"a.go","old_string":"one\ntwo\nthree\n","new_string":"one\n2\n2.5\nthree\n"}}]}}`,
			loop.Notice{Kind: loop.NoticeEdit, Text: "a.go", Added: 2, Removed: 1},
		},
		{
			"pi-json", `{"type":"tool_execution_start","toolName":"edit","args":{"path":"a.go","edits":[{"oldText":"a","newText":""},{"oldText":"b\nc","newText":"b\nd\nc"}]}}`,
			loop.Notice{Kind: loop.NoticeEdit, Text: "a.go", Added: 1, Removed: 1},
		},
		{
			"opencode-json", `{"type":"tool_use","part":{"tool":"patch","state":{"input":{"filePath":"a.go","patchText":"--- a\n+++ b\n@@\n-x\n+y\n+z\n"}}}}`,
			loop.Notice{Kind: loop.NoticeEdit, Text: "a.go", Added: 2, Removed: 1},
		},
		{
			"droid-stream-json", `{"type":"tool_call","toolName":"Edit","parameters":{"edits":"many","old_str":{"a":1},"new_string":5}}`,
			loop.Notice{Kind: loop.NoticeEdit, Text: "Edit"},
		},
		{
			"droid-stream-json", `{"type":"tool_call","toolName":"Edit","parameters":{}}`,
			loop.Notice{Kind: loop.NoticeEdit, Text: "Edit"},
		},
		{
			"copilot-json", "plain \x1b[1mwords\x1b[0m",
			loop.Notice{Kind: loop.NoticeOutput, Stream: "stdout", Text: "plain words\n"},
		},
	} {
		got := hear(t, test.format, []byte(test.event), whole).Notices
		if len(got) != 1 || got[0] != test.want {
			t.Errorf("%s: got %+v, want %+v", test.event, got, test.want)
		}
	}
}

func TestUnknownFormat(t *testing.T) {
	t.Parallel()
	if d, ok := New("text", 1, nil); ok || d != nil {
		t.Error("there is a decoder for text")
	}
}

// TestLine: texts are cleaned and shortened for the screen.
func TestLine(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("wörd ", 100)
	for in, want := range map[string]string{
		"":                                       "",
		" \t\n a \r\n b\u00a0\u2028c  ":          "a b c",
		"\x1b[31mred\x1b[0m \u009b1mbold\x07":    "red bold",
		"caf\xe9 \ufffd":                         "caf\ufffd \ufffd",
		long:                                     strings.Repeat("wörd ", 39) + "…",
		strings.Repeat("x", 300):                 strings.Repeat("x", 233) + " …",
		"a" + strings.Repeat(" ", maxHead) + "b": "a",
		strings.Repeat("\u3000", maxHead) + "ü":  "ü",
	} {
		if got := Line(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
