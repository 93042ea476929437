package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"codeloops/internal/e2e/model"
)

// A conversation is one of an agent with a gate, whose model is scripted.
type conversation struct {
	*stage

	mu      sync.Mutex
	prompts []string // that the model was asked with
	results []string // of tools, of the last request
}

// converse returns a conversation. step answers the request with n results so far; sub is one of a sub-agent.
func converse(t *testing.T, c cli, marks []string, step func(q turn, n int, sub bool) model.Answer) *conversation {
	t.Helper()
	if c.name != "claude" && c.name != "codex" {
		t.Skip("no gate is known for it")
	}
	v := &conversation{}
	v.stage = newStage(t, c, asked(marks, func(q turn) model.Answer {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.prompts = append(v.prompts, q.prompt)
		if len(q.results) > 0 {
			v.results = q.results
		}
		return step(q, len(q.results), strings.Contains(q.prompt, subTask))
	}))
	v.write("home/done", "DECISION: DONE\nSUMMARY: it is tested\n")
	v.write("home/go-on", "DECISION: CONTINUE\nFEEDBACK:\n1. MUST: there is no test\n")
	return v
}

// subTask is what a sub-agent is told.
const subTask = "put the greeting there yourself"

// gate installs the gate for events, with a critic that is a shell command.
func (v *conversation) gate(judge string, events ...string) {
	v.t.Helper()
	v.write("home/.config/codeloops/config.toml",
		fmt.Sprintf("critic_retries = 0\n[critic]\nagent = \"judge\"\n[agents.judge]\ncommand = [\"/bin/sh\", \"-c\", %q]\n", "cat >/dev/null; "+judge))
	args := []string{"gate", "install", v.cli.name}
	for _, event := range events {
		args = append(args, "--event", event)
	}
	install := exec.Command(os.Getenv(binaryVar), args...)
	install.Dir, install.Env = v.work, v.env()
	if out, err := install.CombinedOutput(); err != nil {
		v.t.Fatalf("%v: %s", err, out)
	}
}

// agent is a conversation, headless, that has not begun.
func (v *conversation) agent() *exec.Cmd {
	line := []string{"-p", "--dangerously-skip-permissions", gateTask}
	if v.cli.name == "codex" {
		line = []string{"exec", "--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust", gateTask}
	}
	agent := exec.CommandContext(v.t.Context(), filepath.Join(v.dir, "bin", v.cli.name), line...)
	agent.Dir, agent.Env = v.work, append(v.env(), "CLAUDE_CODE_ENABLE_TASKS=1", "CLAUDE_CODE_ENABLE_TODO_TOOLS=1", "ENABLE_TOOL_SEARCH=false")
	return agent
}

// play has the conversation to its end.
func (v *conversation) play() string {
	v.t.Helper()
	out, err := v.agent().CombinedOutput()
	if err != nil {
		v.t.Errorf("the agent ended: %v", err)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return string(out)
}

func (v *conversation) sessions() int {
	logs, _ := filepath.Glob(filepath.Join(v.dir, "sessions", "*.jsonl"))
	return len(logs)
}

// uses calls a tool of the agent's own with an input.
func (t turn) uses(name string, input map[string]any) model.Answer {
	for _, tool := range t.Tools {
		if tool.Name == name {
			return use(model.Call{Namespace: tool.Namespace, Tool: tool.Name, Input: input}, true)
		}
	}
	return model.Answer{Text: "there is no tool " + name}
}

// TestGateBackground: while a task goes on that the agent has left in the background, nothing is judged.
func TestGateBackground(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c cli) {
		if c.name != "claude" {
			t.Skip("its hooks do not tell of background tasks")
		}
		var v *conversation
		v = converse(t, c, []string{gateTask}, func(q turn, n int, _ bool) model.Answer {
			switch n {
			case 0:
				return q.writes(filepath.Join(v.work, greeting), "hello\n")
			case 1:
				return q.uses("Bash", map[string]any{"command": "touch " + filepath.Join(v.dir, "begun") + "; sleep 300", "description": "wait", "run_in_background": true})
			}
			return model.Answer{Text: "It goes on."}
		})
		v.gate("touch $HOME/judged; cat $HOME/go-on")
		agent := v.agent()
		v.must(agent.Start())
		defer killAll(v.key)
		v.awaits("the background task", "begun")
		time.Sleep(8 * time.Second) // the agent stops, and waits for the task or ends it
		_ = agent.Process.Signal(syscall.SIGINT)
		_ = agent.Wait()
		if _, err := os.Stat(filepath.Join(v.dir, "home", "judged")); err == nil || v.sessions() > 0 {
			t.Errorf("it was judged while a task went on: %q", v.prompts)
		}
		if len(v.results) < 2 || strings.Contains(v.results[1], "no tool") {
			t.Errorf("the tools answered %q", v.results)
		}
	})
}

// awaits waits for a file of the stage.
func (s *stage) awaits(what, name string) {
	s.t.Helper()
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(s.dir, name)); err == nil {
			return
		}
		if time.Now().After(end) {
			s.t.Fatalf("waited in vain for %s", what)
		}
	}
}

// TestGateInterrupted: an agent that is interrupted while a critic judges ends, and so do the hook and the critic. The next
// conversation is judged as if nothing had been.
func TestGateInterrupted(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c cli) {
		var v *conversation
		v = converse(t, c, []string{gateTask}, func(q turn, n int, _ bool) model.Answer {
			if n == 0 {
				return q.writes(filepath.Join(v.work, greeting), "hello\n")
			}
			return model.Answer{Text: "It is done."}
		})
		v.gate("if [ -e $HOME/judging ]; then cat $HOME/done; else touch $HOME/judging; sleep 300; fi")
		agent := v.agent()
		v.must(agent.Start())
		defer killAll(v.key)
		v.awaits("the critic", "home/judging")
		v.must(agent.Process.Signal(syscall.SIGINT))
		began := time.Now()
		_ = agent.Wait() // it says itself how it ended
		for left := living(v.key); len(left) > 0; left = living(v.key) {
			if time.Since(began) > 30*time.Second {
				t.Fatalf("30 s after it was interrupted, there are %q", left)
			}
			time.Sleep(100 * time.Millisecond)
		}
		v.must(os.Remove(filepath.Join(v.work, greeting)))
		if out := v.play(); v.sessions() != 2 {
			t.Errorf("%d sessions\n%s", v.sessions(), out)
		}
		if log, _ := exec.Command("sh", "-c", "cat "+v.dir+"/sessions/*.jsonl").Output(); !strings.Contains(string(log), `"outcome":"success"`) {
			t.Errorf("the next conversation was not approved: %s", log)
		}
	})
}

// TestGateSubagent: a sub-agent is sent back with the findings, too, if the gate is asked to.
func TestGateSubagent(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c cli) {
		if c.name != "claude" {
			t.Skip("a headless one has no sub-agents")
		}
		back := 0
		var v *conversation
		v = converse(t, c, []string{gateTask, subTask, sentBack}, func(q turn, n int, sub bool) model.Answer {
			switch {
			case strings.Contains(q.prompt, sentBack) && n == 0:
				back++
				return q.writes(filepath.Join(v.work, "tested.txt"), "tested\n")
			case sub && n == 0:
				return q.writes(filepath.Join(v.work, greeting), "hello\n")
			case !sub && n == 0 && !strings.Contains(q.prompt, sentBack):
				for _, name := range []string{"Agent", "Task"} {
					if a := q.uses(name, map[string]any{"description": "greet", "prompt": subTask, "subagent_type": "general-purpose"}); a.Call != nil {
						return a
					}
				}
			}
			return model.Answer{Text: "It is done."}
		})
		v.gate("if [ -f tested.txt ]; then cat $HOME/done; else cat $HOME/go-on; fi", "SubagentStop")
		if out := v.play(); back != 1 || v.sessions() != 1 {
			t.Errorf("it was sent back %d times, in %d sessions: %q\n%s", back, v.sessions(), v.prompts, out)
		}
	})
}

// TestGateTask: a task of the agent's list counts as completed once its work is approved.
func TestGateTask(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c cli) {
		if c.name != "claude" {
			t.Skip("it has no such event")
		}
		var v *conversation
		v = converse(t, c, []string{gateTask}, func(q turn, n int, _ bool) model.Answer {
			complete := q.uses("TaskUpdate", map[string]any{"taskId": "1", "status": "completed"})
			switch n {
			case 0:
				return q.uses("TaskCreate", map[string]any{"subject": "greet the world", "description": "there is a test, too"})
			case 1:
				return q.writes(filepath.Join(v.work, greeting), "hello\n")
			case 2:
				return complete
			case 3:
				return q.writes(filepath.Join(v.work, "tested.txt"), "tested\n")
			case 4:
				return complete
			}
			return model.Answer{Text: "It is done."}
		})
		v.gate("if [ -f tested.txt ]; then cat $HOME/done; else cat $HOME/go-on; fi", "TaskCompleted")
		out := v.play()
		if len(v.results) != 5 || !strings.Contains(v.results[2], "F1: there is no test") || strings.Contains(v.results[4], "F1") {
			t.Errorf("the tools answered %q\n%s", v.results, out)
		}
		if log, _ := exec.Command("sh", "-c", "cat "+v.dir+"/sessions/*.jsonl").Output(); v.sessions() != 1 || !strings.Contains(string(log), "there is a test, too") {
			t.Errorf("%d sessions: %s", v.sessions(), log)
		}
	})
}

// TestGateTrusted: Codex skips the hooks until the user trusts them as they are, and `codeloops gate status` says so.
func TestGateTrusted(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c cli) {
		if c.name != "codex" {
			t.Skip("it asks for no trust")
		}
		var v *conversation
		v = converse(t, c, []string{gateTask}, func(q turn, n int, _ bool) model.Answer {
			if n == 0 {
				return q.writes(filepath.Join(v.work, greeting), fmt.Sprintln("hello", time.Now()))
			}
			return model.Answer{Text: "It is done."}
		})
		v.gate("cat $HOME/done")
		skips := func() bool {
			t.Helper()
			status := exec.Command(os.Getenv(binaryVar), "gate", "status")
			status.Dir, status.Env = v.work, v.env()
			out, err := status.CombinedOutput()
			v.must(err)
			return strings.Contains(string(out), "codex skips the hook until you trust it")
		}
		talk := func() {
			t.Helper()
			agent := v.agent()
			agent.Args = slices.DeleteFunc(agent.Args, func(arg string) bool { return arg == "--dangerously-bypass-hook-trust" })
			if out, err := agent.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
		}
		if talk(); !skips() || v.sessions() != 0 {
			t.Errorf("untrusted: skipped %t, %d sessions", skips(), v.sessions())
		}
		v.trust()
		if talk(); skips() || v.sessions() != 1 {
			t.Errorf("trusted: skipped %t, %d sessions", skips(), v.sessions())
		}
		again := exec.Command(os.Getenv(binaryVar), "gate", "install", "codex", "--", "--rounds", "2")
		again.Dir, again.Env = v.work, v.env()
		v.must(again.Run())
		if !skips() {
			t.Error("it is said to be trusted after it was changed")
		}
	})
}

// trust trusts the hooks as the user does: with the hashes that Codex itself has for them.
func (v *conversation) trust() {
	v.t.Helper()
	server := exec.CommandContext(v.t.Context(), filepath.Join(v.dir, "bin", "codex"), "app-server")
	server.Dir, server.Env = v.work, v.env()
	in, err := server.StdinPipe()
	v.must(err)
	out, err := server.StdoutPipe()
	v.must(err)
	v.must(server.Start())
	defer func() { _, _ = in.Close(), server.Wait() }()
	answers := json.NewDecoder(out)
	ask := func(line string) (result json.RawMessage) {
		v.t.Helper()
		_, err := fmt.Fprintln(in, line)
		v.must(err)
		var a struct{ Result json.RawMessage }
		for a.Result == nil { // it also tells what nobody has asked
			v.must(answers.Decode(&a))
		}
		return a.Result
	}
	ask(`{"id":1,"method":"initialize","params":{"clientInfo":{"name":"test","version":"1"}}}`)
	_, err = fmt.Fprintln(in, `{"method":"initialized"}`)
	v.must(err)
	var known struct {
		Data []struct {
			Hooks []struct{ Key, CurrentHash string }
		}
	}
	v.must(json.Unmarshal(ask(fmt.Sprintf(`{"id":2,"method":"hooks/list","params":{"cwds":[%q]}}`, v.work)), &known))
	config := filepath.Join(v.dir, "home", ".codex", "config.toml")
	text, err := os.ReadFile(config)
	v.must(err)
	for _, h := range known.Data[0].Hooks {
		text = fmt.Appendf(text, "\n[hooks.state.%q]\ntrusted_hash = %q\n", h.Key, h.CurrentHash)
	}
	v.must(os.WriteFile(config, text, 0o600))
}
