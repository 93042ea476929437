//go:build unix

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestFigures measures the cost of codeloops itself, with agents that cost almost nothing: `make
// bench-agents`. It only prints, because machines differ; the targets are in docs/adding-agents.md.
func TestFigures(t *testing.T) { //nolint:paralleltest // the measurements must not be disturbed
	if os.Getenv("E2E_FIGURES") == "" {
		t.Skip("E2E_FIGURES is not set: use make bench-agents")
	}
	t.Run("cpu", measureCPU)         //nolint:paralleltest // as above
	t.Run("silence", measureSilence) //nolint:paralleltest // as above
	t.Run("memory", measureMemory)   //nolint:paralleltest // as above
	t.Run("latency", measureLatency) //nolint:paralleltest // as above
}

// own creates a stage for an agent that is a shell command.
func own(t *testing.T, output, actor, critic string) *stage {
	t.Helper()
	s := newStage(t, cli{name: "mine"}, nil)
	s.conf = fmt.Sprintf("max_output = 0\n[convergence]\nwarn_after = 0\nstop_after = 0\n[agents.mine]\noutput = %q\ncommand = [\"/bin/sh\", \"-c\", %q]\n"+
		"[agents.judge]\ncommand = [\"/bin/sh\", \"-c\", %q]\n", output, actor, critic)
	s.critic = "judge"
	s.write("home/.config/codeloops/config.toml", s.conf)
	return s
}

// spent returns the processor time of a process and its children.
func spent(p *os.ProcessState) time.Duration { return p.UserTime() + p.SystemTime() }

// play runs codeloops to its end, with no follower.
func (s *stage) play(code int, args ...string) *os.ProcessState {
	s.t.Helper()
	all := []string{"--actor-agent", "mine", "--critic-agent", "judge", "--session-dir", s.t.TempDir()}
	cmd := exec.Command(os.Getenv(binaryVar), append(append(all, args...), "task")...)
	cmd.Dir, cmd.Env = s.work, s.env()
	if out, err := cmd.CombinedOutput(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != code {
		s.t.Fatalf("%v\n%s", err, out)
	}
	return cmd.ProcessState
}

func measureCPU(t *testing.T) {
	const rounds = 40
	event := `{"type":"assistant","message":{"content":[{"type":"text","text":"` + strings.Repeat("words ", 40) + `"}]}}` + "\n"
	for _, kind := range []struct{ name, output, actor, printed string }{
		{"text, one line", "text", "echo x >> file", ""},
		{"events, 1 MB", "claude-stream-json", "echo x >> file; cat ../printed", strings.Repeat(event, 1<<20/len(event)) +
			`{"type":"result","subtype":"success","result":"done"}` + "\n"},
	} {
		critic := "echo DECISION: CONTINUE; echo FEEDBACK: more"
		s := own(t, kind.output, kind.actor, critic)
		s.write("printed", kind.printed)
		one := spent(s.play(1, "-n", "1"))
		many := spent(s.play(1, "-n", strconv.Itoa(rounds+1)))
		var agents time.Duration
		for range rounds {
			for _, script := range []string{kind.actor, critic} {
				cmd := exec.Command("/bin/sh", "-c", script)
				cmd.Dir = s.work
				if err := cmd.Run(); err != nil {
					t.Fatal(err)
				}
				agents += spent(cmd.ProcessState)
			}
		}
		turns := time.Duration(2 * rounds)
		t.Logf("processor time per turn, %s: %s with the agent, %s the agent alone, %s codeloops (a run of one iteration: %s)",
			kind.name, round((many-one)/turns), round(agents/turns), round((many-one-agents)/turns), round(one))
	}
}

// measureSilence measures the cost of a turn while its agent is thinking.
func measureSilence(t *testing.T) {
	const long = 10
	critic := "echo DECISION: DONE"
	short := spent(own(t, "text", "echo x >> file", critic).play(0))
	silent := spent(own(t, "text", fmt.Sprintf("sleep %d; echo x >> file", long), critic).play(0))
	t.Logf("processor time while an agent is silent: %s a second", round((silent-short)/long))
}

func round(d time.Duration) time.Duration { return d.Round(time.Microsecond) }

func measureMemory(t *testing.T) {
	event := `{"type":"assistant","message":{"content":[{"type":"text","text":"` + strings.Repeat("and again ", 200) + `"}]}}`
	for _, size := range []int{10e6, 1e9} {
		for _, kind := range []struct{ name, output, line, last string }{
			{"text", "text", "an agent that prints the same line again and again", "true"},
			{"events", "claude-stream-json", event, `echo '{"type":"result","subtype":"success","result":"done"}'`},
		} {
			s := own(t, kind.output, fmt.Sprintf("yes '%s' | head -c %d; echo; %s", kind.line, size, kind.last), "echo DECISION: DONE")
			r := s.start("greet the world")
			peak := int64(0)
			for over := false; !over; {
				select {
				case <-r.events.over:
					over = true
				case <-time.After(20 * time.Millisecond):
					peak = max(peak, r.highWater())
				}
			}
			e := r.wait()
			t.Logf("memory, %d MB of %s: %d MB at most, %.1f s, exit code %d, %d bytes read", size/1e6, kind.name, peak>>20,
				e.took.Seconds(), e.code, e.actor[0].Stdout.Total)
		}
	}
}

// highWater returns the peak memory of codeloops and its keepers, in bytes.
func (r *run) highWater() int64 {
	most := int64(0)
	for _, line := range living(r.key) {
		pid, command, _ := strings.Cut(line, " ")
		if !strings.Contains(command, "codeloops") {
			continue
		}
		status, err := os.ReadFile(filepath.Join("/proc", pid, "status"))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(status)) {
			if kb, ok := strings.CutPrefix(line, "VmHWM:"); ok {
				n, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(kb), "kB")), 10, 64)
				most = max(most, n<<10)
			}
		}
	}
	return most
}

func measureLatency(t *testing.T) {
	for _, kind := range []struct{ name, output, line, last, shown string }{
		{"text", "text", "%s\\n", "true", "output"},
		{
			"events", "claude-stream-json", `{"type":"assistant","message":{"content":[{"type":"text","text":"%s"}]}}\n`,
			`echo '{"type":"result","subtype":"success","result":"done"}'`, "message",
		},
	} {
		s := own(t, kind.output, fmt.Sprintf(`for i in $(seq 200); do printf '%s' $(date +%%s%%N); sleep 0.02; done; %s`,
			kind.line, kind.last), "echo DECISION: DONE")
		r := s.start("greet the world")
		if e := r.wait(); e.code != 0 {
			t.Fatalf("exit code %d\n%s", e.code, r.events.text())
		}
		var late []time.Duration
		for _, a := range r.events.of(kind.shown) {
			for stamp := range strings.FieldsSeq(a.Text) {
				if ns, err := strconv.ParseInt(stamp, 10, 64); err == nil && a.Role == "actor" {
					late = append(late, a.heard.Sub(time.Unix(0, ns)))
				}
			}
		}
		slices.Sort(late)
		if len(late) < 150 {
			t.Fatalf("only %d of 200 lines came\n%s", len(late), r.events.text())
		}
		t.Logf("from the agent's line to codeloops' line, %s: half of them within %s, 99%% within %s, the last within %s",
			kind.name, round(late[len(late)/2]), round(late[len(late)*99/100]), round(late[len(late)-1]))
	}
}
