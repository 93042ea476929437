package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"codeloops/internal/e2e/model"
)

// mcpTask is what an agent is told that has the tools of codeloops.
const mcpTask = "let codeloops greet the world"

// TestMCP: an agent in a conversation of its own starts a run with the tools of codeloops, waits for it in pieces, and reads what has
// changed.
func TestMCP(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c cli) {
		lines := map[string][]string{
			"claude": {"-p", "--dangerously-skip-permissions", mcpTask},
			"codex":  {"exec", "--dangerously-bypass-approvals-and-sandbox", mcpTask},
		}
		if lines[c.name] == nil {
			t.Skip("codeloops mcp install knows nothing of it")
		}
		var mu sync.Mutex
		var called, results []string
		s := newStage(t, c, asked([]string{mcpTask}, func(q turn) model.Answer {
			mu.Lock()
			defer mu.Unlock()
			results = q.results
			want, input := "run_start", map[string]any{"prompt": "greet the world", "actor_agent": "hand", "critic_agent": "judge"}
			switch n := len(q.results); {
			case n > 0 && strings.Contains(q.results[n-1], `"running":true`):
				want, input = "run_wait", map[string]any{"seconds": 1}
			case n > 0 && strings.Contains(q.results[n-1], `"running":false`):
				want, input = "session_diff", map[string]any{}
			case n > 0:
				return model.Answer{Text: "It is done."}
			}
			for _, tool := range q.Tools {
				if strings.HasSuffix(tool.Name, want) {
					called = append(called, want)
					return use(model.Call{Namespace: tool.Namespace, Tool: tool.Name, Input: input}, true)
				}
			}
			return model.Answer{Text: "there is no tool " + want}
		}))
		s.judge(done)
		s.employ("sleep 3; echo hello > " + greeting)
		s.write("home/.config/codeloops/config.toml", s.conf)
		env := append(s.env(), "ENABLE_TOOL_SEARCH=false")
		install := exec.Command(os.Getenv(binaryVar), "mcp", "install", c.name)
		install.Dir, install.Env = s.work, env
		if out, err := install.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		began := time.Now()
		agent := exec.CommandContext(t.Context(), filepath.Join(s.dir, "bin", c.name), lines[c.name]...)
		agent.Dir, agent.Env = s.work, env
		out, err := agent.CombinedOutput()
		if err != nil {
			t.Fatalf("the agent ended: %v\n%s", err, out)
		}
		mu.Lock()
		defer mu.Unlock()
		all := strings.Join(called, " ")
		if !strings.HasPrefix(all, "run_start run_wait run_wait") || !strings.HasSuffix(all, "run_wait session_diff") {
			t.Errorf("called %s\n%s", all, out)
		}
		last := fmt.Sprint(results)
		if !strings.Contains(last, "+hello") || !strings.Contains(last, "success") {
			t.Errorf("the tools answered %s", last)
		}
		if text, err := os.ReadFile(filepath.Join(s.work, greeting)); err != nil || string(text) != "hello\n" {
			t.Errorf("the greeting is %q, %v", text, err)
		}
		table.notef(c.name, "mcp: a run in pieces", "%d calls, %.1f s", len(called), time.Since(began).Seconds())
	})
}
