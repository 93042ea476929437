package transcript

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"codeloops/internal/loop"
)

// abridged returns a line read in pieces of the given size.
func abridged(line string, size int) *abridger {
	a := &abridger{}
	for rest := []byte(line); len(rest) > 0; {
		n := min(size, len(rest))
		a.write(rest[:n])
		rest = rest[n:]
	}
	return a
}

// TestAbridger: only the middle of long texts is omitted, however the line is split.
func TestAbridger(t *testing.T) {
	t.Parallel()
	for name, unit := range map[string]string{
		"letters": "abcdefgh", "characters": "aüb€c😀", "escapes": `\"x\\\n`, "code points": `\u00e4y\ud83d\ude00`, "quotes": `\"`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			long := strings.Repeat(unit, 3<<20/len(unit))
			line := `{"short":"a\"b","long":"` + long + `","number":1,"other":["` + long + `","x"]}`
			var first string
			for _, size := range []int{1 << 30, 65_536, 4093} {
				a := abridged(line, size)
				if a.full || !json.Valid(a.out) || !utf8.Valid(a.out) || len(a.out) > 5*maxHalf*2 {
					t.Fatalf("in pieces of %d: full %t, %d bytes", size, a.full, len(a.out))
				}
				if first == "" {
					first = string(a.out)
				}
				if string(a.out) != first {
					t.Errorf("in pieces of %d it is another line", size)
				}
			}
			var got struct{ Short, Long string }
			if err := json.Unmarshal([]byte(first), &got); err != nil {
				t.Fatal(err)
			}
			var whole struct{ Long string }
			_ = json.Unmarshal([]byte(line), &whole)
			head, tail, ok := strings.Cut(got.Long, "\n[… ")
			_, tail, _ = strings.Cut(tail, " bytes omitted …]\n")
			if got.Short != `a"b` || !ok || !strings.HasPrefix(whole.Long, head) || !strings.HasSuffix(whole.Long, tail) || tail == "" {
				t.Errorf("%q; %d bytes of head, %d of tail", got.Short, len(head), len(tail))
			}
		})
	}
}

// answers returns an answer as each format prints it, in one or several events.
func answers(text string) map[string]string {
	quoted, _ := json.Marshal(text)
	events := map[string]string{
		"claude-stream-json": `{"type":"system","subtype":"init","session_id":"s"}
{"type":"assistant","message":{"content":[{"type":"text","text":%s}]}}
{"type":"result","subtype":"success","is_error":false,"result":%[1]s}`,
		"qwen-stream-json": `{"type":"assistant","message":{"content":[{"type":"text","text":%s}]}}
{"type":"result","subtype":"success","is_error":false,"result":%[1]s}`,
		"cline-json": `{"type":"agent_event","event":{"type":"content_end","contentType":"text","text":%s}}
{"type":"run_result","finishReason":"completed","text":%[1]s}`,
		"codex-json": `{"type":"item.completed","item":{"type":"agent_message","text":%s}}
{"type":"turn.completed"}`,
		"copilot-json": `{"type":"assistant.message","data":{"content":%s}}
{"type":"result","sessionId":"s","exitCode":0}`,
		"droid-stream-json": `{"type":"message","role":"assistant","text":%s}
{"type":"completion","finalText":%[1]s}`,
		"opencode-json": `{"type":"step_start"}
{"type":"text","part":{"text":%s}}
{"type":"step_finish","part":{"reason":"stop"}}`,
		"pi-json": `{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":%s}],"stopReason":"stop"}}
{"type":"agent_end","messages":[{"role":"assistant","content":[{"type":"text","text":%[1]s}]}]}`,
	}
	for format, event := range events {
		events[format] = fmt.Sprintf(event, quoted)
	}
	var pieces strings.Builder
	for part := range strings.SplitAfterSeq(text, "\n") {
		quoted, _ := json.Marshal(part)
		fmt.Fprintf(&pieces, `{"type":"message","role":"assistant","content":%s,"delta":true}`+"\n", quoted)
	}
	events["gemini-stream-json"] = pieces.String() + `{"type":"result","status":"success"}`
	return events
}

// needsTime skips a test that reads megabytes in short mode.
func needsTime(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("many megabytes of output")
	}
}

// TestLongAnswers: of an answer of 12 MB the head and tail are kept, the omitted bytes
// are counted and reported, and a decision at the end is read.
func TestLongAnswers(t *testing.T) {
	t.Parallel()
	needsTime(t)
	const verdict = "DECISION: DONE\nSUMMARY: it is all there"
	text := "It begins.\n```\n" + strings.Repeat("A line with a \"quote\" and an ü.\n", 12<<20/32) + verdict
	formats := answers(text)
	for _, format := range Formats() {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			got := hear(t, format, []byte(formats[format]), func() int { return 64 << 10 })
			r := got.Report
			if r.Ending != loop.EndCompleted || !strings.HasSuffix(r.Text, verdict) {
				t.Fatalf("%s: %s; %d bytes, %.60q", r.Ending, r.Reason, len(r.Text), r.Text)
			}
			if strings.Contains(r.Text, "It begins.") || strings.Contains(r.Text, "omitted …]") || !strings.HasPrefix(r.Text, "A line") {
				t.Errorf("the final text holds more than whole lines of the tail: %.60q", r.Text)
			}
			off := r.Said.Total - int64(len(text))
			if off < -2<<20 || off > 2<<20 || r.Said.Omitted < 10<<20 || !strings.HasPrefix(r.Said.Text, "It begins.") || !strings.HasSuffix(r.Said.Text, verdict) {
				t.Errorf("said %d bytes of %d, %d omitted: %.60q", len(r.Said.Text), r.Said.Total, r.Said.Omitted, r.Said.Text)
			}
			if len(got.Notices) != 2 || got.Notices[1].Kind != loop.NoticeProblem || !strings.Contains(got.Notices[1].Text, "are not read") {
				t.Errorf("notices: %+v", got.Notices)
			}
		})
	}
}
