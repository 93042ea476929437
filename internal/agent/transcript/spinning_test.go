package transcript

import (
	"fmt"
	"strings"
	"testing"
)

// TestSpinning: many requests in a row without a tool call or a new text end a turn, and
// nothing else does.
func TestSpinning(t *testing.T) {
	t.Parallel()
	const (
		step  = `{"type":"step_start","part":{}}` + "\n"
		done  = `{"type":"step_finish","part":{"reason":"tool-calls"}}` + "\n"
		tool  = `{"type":"tool_use","part":{"tool":"bash","state":{"input":{"command":"sleep 9"}}}}` + "\n"
		say   = `{"type":"text","part":{"text":"I wait."}}` + "\n"
		idle  = step + done
		claud = `{"type":"assistant","message":{"id":"m%d","content":[%s],"stop_reason":null}}` + "\n"
		call  = `{"type":"tool_use","id":"t","name":"Bash","input":{"command":"sleep 9"}}`
	)
	ofClaude := func(n int, part string) string {
		var all strings.Builder
		for i := range n {
			fmt.Fprintf(&all, claud, i, part)
		}
		return all.String()
	}
	for name, test := range map[string]struct {
		format, says string
		want         bool
	}{
		"nothing":              {"opencode-json", strings.Repeat(idle, 21), true},
		"nothing, a while":     {"opencode-json", strings.Repeat(idle, 20), false},
		"the same text":        {"opencode-json", strings.Repeat(step+say+done, 22), true},
		"tools":                {"opencode-json", strings.Repeat(step+tool+done, 100), false},
		"tools between":        {"opencode-json", strings.Repeat(strings.Repeat(idle, 15)+step+tool+done, 10), false},
		"texts":                {"opencode-json", strings.Repeat(step+say+done+step+strings.Replace(say, "wait", "look", 1)+done, 30), false},
		"claude, nothing":      {"claude-stream-json", ofClaude(22, ""), true},
		"claude, tools":        {"claude-stream-json", ofClaude(100, call), false},
		"claude, in one reply": {"claude-stream-json", strings.Repeat(ofClaude(1, ""), 100), false},
		"cline":                {"cline-json", strings.Repeat(`{"type":"agent_event","event":{"type":"iteration_start"}}`+"\n", 21), true},
	} {
		d, _ := New(test.format, keep, nil)
		_, _ = d.Write([]byte(test.says))
		if got := d.Report(); got.Spinning != test.want || d.Lost() != test.want {
			t.Errorf("%s: spinning %t, lost %t", name, got.Spinning, d.Lost())
		}
	}
}
