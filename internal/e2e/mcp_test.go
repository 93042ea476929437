package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
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
			called = append(called, want)
			return q.calls(want, input)
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

// calls answers with a call of a tool of codeloops.
func (t turn) calls(want string, input map[string]any) model.Answer {
	for _, tool := range t.Tools {
		if strings.HasSuffix(tool.Name, want) {
			return use(model.Call{Namespace: tool.Namespace, Tool: tool.Name, Input: input}, true)
		}
	}
	return model.Answer{Text: "there is no tool " + want}
}

// What an agent is told in two conversations.
const (
	mcpBegin = "have codeloops greet the world"
	mcpAsk   = "how far is the run of codeloops"
)

// TestMCPAgain: an agent starts a run, and ends. The run goes on, and in another conversation the agent finds it.
func TestMCPAgain(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c cli) {
		line := map[string][]string{
			"claude": {"-p", "--dangerously-skip-permissions"},
			"codex":  {"exec", "--dangerously-bypass-approvals-and-sandbox"},
		}[c.name]
		if line == nil {
			t.Skip("codeloops mcp install knows nothing of it")
		}
		var mu sync.Mutex
		var results []string
		var s *stage
		s = newStage(t, c, asked([]string{mcpBegin, mcpAsk}, func(q turn) model.Answer {
			mu.Lock()
			defer mu.Unlock()
			results = q.results
			n, begins := len(results), strings.Contains(q.prompt, mcpBegin)
			switch {
			case n == 0 && begins:
				return q.calls("run_start", map[string]any{"prompt": "greet the world", "actor_agent": "hand", "critic_agent": "judge"})
			case begins || n > 0 && strings.Contains(results[n-1], "success"):
				return model.Answer{Text: "That is all."}
			case n == 1:
				s.write("go", "")
			}
			return q.calls("run_wait", map[string]any{"seconds": 1})
		}))
		s.employ("until [ -e " + filepath.Join(s.dir, "go") + " ]; do sleep 0.05; done; echo hello >" + greeting)
		s.judge(done)
		s.write("home/.config/codeloops/config.toml", s.conf)
		run := func(program string, args ...string) {
			t.Helper()
			cmd := exec.CommandContext(t.Context(), program, args...)
			cmd.Dir, cmd.Env = s.work, append(s.env(), "ENABLE_TOOL_SEARCH=false")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %v\n%s", args, err, out)
			}
		}
		run(os.Getenv(binaryVar), "mcp", "install", c.name)
		agent := filepath.Join(s.dir, "bin", c.name)
		run(agent, append(line, mcpBegin)...)
		run(agent, append(line, mcpAsk)...)
		mu.Lock()
		defer mu.Unlock()
		if len(results) < 2 || !strings.Contains(results[0], `"running":true`) || !strings.Contains(results[len(results)-1], "success") {
			t.Errorf("the tools answered %q", results)
		}
	})
}

// withTools installs the server for agents, which are all on the PATH of the stage, and returns what starts a program there.
func (s *stage) withTools(all ...cli) (command func(program string, args ...string) *exec.Cmd) {
	s.t.Helper()
	s.write("home/.config/codeloops/config.toml", s.conf)
	s.t.Cleanup(func() { killAll(s.key) }) // a run outlives its caller
	env := append(s.env(), "ENABLE_TOOL_SEARCH=false")
	env = slices.DeleteFunc(env, func(v string) bool { return strings.HasPrefix(v, "CODELOOPS_SESSION_DIR=") }) // codex passes it on to nobody
	command = func(program string, args ...string) *exec.Cmd {
		cmd := exec.CommandContext(s.t.Context(), program, args...)
		cmd.Dir, cmd.Env = s.work, env
		return cmd
	}
	for _, c := range all {
		if c.name != s.cli.name {
			s.must(os.Symlink(c.program(), filepath.Join(s.dir, "bin", c.name)))
			env = append(env, c.env(s.url)...)
		}
		if c.name != s.cli.name && c.files != nil {
			for name, text := range c.files(s.url) {
				s.write(filepath.Join("home", name), text)
			}
		}
		if out, err := command(os.Getenv(binaryVar), "mcp", "install", c.name).CombinedOutput(); err != nil {
			s.t.Fatalf("%v: %s", err, out)
		}
	}
	return command
}

// says is the command line of a conversation in which an agent is told something.
func says(agent, what string) []string {
	return map[string][]string{
		"claude": {"-p", "--dangerously-skip-permissions", what},
		"codex":  {"exec", "--dangerously-bypass-approvals-and-sandbox", what},
	}[agent]
}

// waits is a model that starts a run, and waits for its end.
func waits(results []string, q turn) model.Answer {
	switch n := len(results); {
	case n == 0 && !strings.Contains(q.prompt, mcpAsk):
		return q.calls("run_start", map[string]any{"prompt": "greet the world", "actor_agent": "hand", "critic_agent": "judge"})
	case n > 0 && !strings.Contains(results[n-1], `"running":true`):
		return model.Answer{Text: "That is all."}
	}
	return q.calls("run_wait", map[string]any{})
}

// TestMCPKilled: an agent that is killed in the middle of a call does not end the run that it has started, and another agent finds
// it.
func TestMCPKilled(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c cli) {
		if says(c.name, "") == nil {
			t.Skip("codeloops mcp install knows nothing of it")
		}
		other := c
		for _, one := range chosen() {
			if one.name != c.name && says(one.name, "") != nil {
				other = one
			}
		}
		var mu sync.Mutex
		var results []string
		s := newStage(t, c, asked([]string{mcpBegin, mcpAsk}, func(q turn) model.Answer {
			mu.Lock()
			defer mu.Unlock()
			results = q.results
			return waits(results, q)
		}))
		s.employ("touch " + filepath.Join(s.dir, "at") + "; until [ -e " + filepath.Join(s.dir, "go") + " ]; do sleep 0.05; done; echo hello >" + greeting)
		s.judge(done)
		command := s.withTools(c, other)
		first := command(filepath.Join(s.dir, "bin", c.name), says(c.name, mcpBegin)...)
		s.must(first.Start())
		s.awaits("the actor", "at")
		time.Sleep(2 * time.Second) // it waits for the run
		for _, line := range living(s.key) {
			if pid, command, _ := strings.Cut(line, " "); strings.Contains(command, c.name+" "+says(c.name, "")[0]) {
				n, err := strconv.Atoi(pid)
				s.must(err)
				p, err := os.FindProcess(n)
				s.must(err)
				_ = p.Kill() // it may be gone already
			}
		}
		_ = first.Wait()
		s.write("go", "")
		if out, err := command(filepath.Join(s.dir, "bin", other.name), says(other.name, mcpAsk)...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		mu.Lock()
		defer mu.Unlock()
		if len(results) == 0 || !strings.Contains(results[len(results)-1], "success") {
			t.Errorf("the tools answered %q", results)
		}
		if text, err := os.ReadFile(filepath.Join(s.work, greeting)); err != nil || string(text) != "hello\n" {
			t.Errorf("the greeting is %q, %v", text, err)
		}
		table.notef(c.name, "mcp: killed, then "+other.name, "%d results", len(results))
	})
}

// TestMCPLong: a run of ten minutes is waited for in pieces of 40 seconds, which no client gives up on.
func TestMCPLong(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c cli) {
		if says(c.name, "") == nil {
			t.Skip("codeloops mcp install knows nothing of it")
		}
		var mu sync.Mutex
		var results []string
		s := newStage(t, c, asked([]string{mcpTask}, func(q turn) model.Answer {
			mu.Lock()
			defer mu.Unlock()
			results = q.results
			return waits(results, q)
		}))
		s.judge(done)
		s.employ("sleep 600; echo hello > " + greeting)
		command := s.withTools(c)
		began := time.Now()
		if out, err := command(filepath.Join(s.dir, "bin", c.name), says(c.name, mcpTask)...).CombinedOutput(); err != nil {
			t.Fatalf("the agent ended: %v\n%s", err, out)
		}
		mu.Lock()
		defer mu.Unlock()
		n, took := len(results), time.Since(began)
		if n < 16 || took < 10*time.Minute || !strings.Contains(results[n-1], "success") {
			t.Errorf("%d results in %s, the last of which are %q", n, took, results[max(0, n-2):])
		}
		table.notef(c.name, "mcp: ten minutes in pieces", "%d calls, %.0f s", n, took.Seconds())
	})
}
