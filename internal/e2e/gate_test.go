package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"codeloops/internal/e2e/model"
)

// What an agent is told in a conversation of its own.
const (
	gateTask = "put a greeting into the repository"
	sentBack = "codeloops: the work is not done"
)

// TestGate: an agent in a conversation of its own is sent back with what a critic has found, and may stop once that is
// mended, or after three rounds. What cannot be judged holds nobody up.
func TestGate(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c cli) {
		lines := map[string][]string{
			"claude": {"-p", "--dangerously-skip-permissions", gateTask},
			"codex":  {"exec", "--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust", gateTask},
		}
		if lines[c.name] == nil {
			t.Skip("no gate is known for it")
		}
		for name, test := range map[string]gated{
			"mended":      {judge: "if [ -f tested.txt ]; then cat $HOME/done; else cat $HOME/go-on; fi", want: 1, mends: true, approved: true},
			"three times": {judge: "cat $HOME/go-on", want: 3},
			"crashed":     {judge: "exit 7"},
			"too slow":    {judge: "sleep 60", flags: []string{"--within", "3s"}},
			"plug-in":     {judge: "if [ -f tested.txt ]; then cat $HOME/done; else cat $HOME/go-on; fi", want: 1, mends: true, approved: true, plugin: true},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				if test.plugin && c.name != "claude" {
					t.Skip("it has no plug-in")
				}
				test.play(t, c, name, lines[c.name])
			})
		}
	})
}

// A gated is a conversation with a gate.
type gated struct {
	judge    string // a shell command
	flags    []string
	want     int32 // how often it is sent back
	mends    bool  // the agent does what it is told
	approved bool
	plugin   bool // the hooks are those of the plug-in for Claude Code
}

func (g gated) play(t *testing.T, c cli, name string, line []string) {
	t.Helper()
	var rounds atomic.Int32
	s := g.stage(t, c, &rounds)
	line = append(g.install(s), line...)
	began := time.Now()
	agent := exec.CommandContext(t.Context(), filepath.Join(s.dir, "bin", c.name), line...)
	agent.Dir, agent.Env = s.work, s.env()
	out, err := agent.CombinedOutput()
	if err != nil {
		t.Errorf("the agent ended: %v\n%s", err, out)
	}
	if n := rounds.Load(); n != g.want {
		t.Errorf("it was sent back %d times, want %d\n%s", n, g.want, out)
	}
	logs, _ := filepath.Glob(filepath.Join(s.dir, "sessions", "*.jsonl"))
	if len(logs) != 1 {
		t.Fatalf("%d sessions\n%s", len(logs), out)
	}
	log, _ := os.ReadFile(logs[0])
	if is := strings.Contains(string(log), `"outcome":"success"`); is != g.approved {
		t.Errorf("approved: %t\n%s", is, log)
	}
	if !strings.Contains(string(log), `"judged":true`) || g.approved && !strings.Contains(string(log), "I am sure that it is done.") {
		t.Errorf("the log does not say who worked: %s", log)
	}
	table.notef(c.name, "gate: "+name, "%d rounds, %.1f s", rounds.Load(), time.Since(began).Seconds())
}

// install sets the hooks up, and returns the arguments that the agent needs for them.
func (g gated) install(s *stage) (args []string) {
	s.t.Helper()
	if g.plugin {
		plugin, err := filepath.Abs("../../plugins/claude-code")
		s.must(err)
		s.must(os.Symlink(os.Getenv(binaryVar), filepath.Join(s.dir, "bin", "codeloops")))
		return []string{"--plugin-dir", plugin}
	}
	install := exec.Command(os.Getenv(binaryVar), append([]string{"gate", "install", s.cli.name, "--", "--critic-agent", "judge"}, g.flags...)...)
	install.Dir, install.Env = s.work, s.env()
	if out, err := install.CombinedOutput(); err != nil {
		s.t.Fatalf("%v: %s", err, out)
	}
	return nil
}

// stage returns the stage with the agent and its critic.
func (g gated) stage(t *testing.T, c cli, rounds *atomic.Int32) (s *stage) {
	t.Helper()
	s = newStage(t, c, asked([]string{gateTask, sentBack}, func(q turn) model.Answer {
		n := len(q.results)
		switch back := strings.Contains(q.prompt, sentBack); {
		case n == 0 && !back:
			return q.writes(filepath.Join(s.work, greeting), "hello\n")
		case n == 0 && g.mends:
			rounds.Add(1)
			if !strings.Contains(q.prompt, "F1: there is no test") {
				t.Errorf("it was told %q", q.prompt)
			}
			return q.writes(filepath.Join(s.work, "tested.txt"), "tested\n")
		case n == 0:
			rounds.Add(1)
		}
		return model.Answer{Text: "I am sure that it is done."}
	}))
	s.write("home/done", "DECISION: DONE\nSUMMARY: it is tested\n")
	s.write("home/go-on", "DECISION: CONTINUE\nFEEDBACK:\n1. MUST: there is no test\n")
	s.write("home/.config/codeloops/config.toml", fmt.Sprintf("critic_retries = 0\n[critic]\nagent = \"judge\"\n[agents.judge]\ncommand = [\"/bin/sh\", \"-c\", %q]\n", "cat >/dev/null; "+g.judge))
	return s
}
