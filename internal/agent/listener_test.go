package agent

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/proc"
)

// A talker is a Starter of a program that prints something, and then runs until it is
// ended.
type talker struct {
	says  string
	pause time.Duration // between its lines
	ended time.Duration // how long it ran
}

func (p *talker) Run(ctx context.Context, cmd proc.Command) (proc.Result, error) {
	began := time.Now()
	for line := range strings.Lines(p.says) {
		cmd.Watch("stdout", []byte(line))
		select {
		case <-time.After(p.pause):
		case <-ctx.Done():
		}
	}
	<-ctx.Done()
	p.ended = time.Since(began)
	return proc.Result{ExitCode: -1, Stop: proc.StopCancelled, Stdout: captured([]byte(p.says))}, nil
}

// listens plays a turn of an agent that prints something and does not exit. The turn ends
// when codeloops ends it, or when the user does, after an hour.
func listens(t *testing.T, name, says string, pause time.Duration) (reply Reply, took time.Duration) {
	t.Helper()
	spec, err := Find(name)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		p := &talker{says: says, pause: pause}
		a := &Agent{spec: spec, at: Place{Starter: p, Limits: proc.Limits{Keep: 1 << 16}, Outputs: t.TempDir()}, paths: map[loop.Access]string{loop.Write: "/bin/" + name}}
		if reply, err = a.Run(ctx, Request{Role: loop.RoleActor, Access: loop.Write, Iteration: 1}); err != nil {
			t.Fatal(err)
		}
		took = p.ended
	})
	return reply, took
}

// Events with which Claude Code and Codex report retries.
const (
	withKey   = `{"type":"system","subtype":"init","apiKeySource":"ANTHROPIC_API_KEY","session_id":"s"}` + "\n"
	withToken = `{"type":"system","subtype":"init","apiKeySource":"none","session_id":"s"}` + "\n"
	refused1  = `{"type":"system","subtype":"api_retry","attempt":1,"max_retries":10,"error_status":401,"error":"authentication_failed"}` + "\n"
	refused2  = `{"type":"system","subtype":"api_retry","attempt":2,"max_retries":10,"error_status":401,"error":"authentication_failed"}` + "\n"
	busy      = `{"type":"system","subtype":"api_retry","attempt":1,"max_retries":10,"error_status":529,"error":"server_error"}` + "\n"
	begun     = `{"type":"thread.started","thread_id":"t"}` + "\n"
	limited   = `{"type":"error","message":"Reconnecting... 1/5 (exceeded retry limit, last status: 429 Too Many Requests)"}` + "\n"
	goesOn    = `{"type":"item.started","item":{"type":"command_execution","command":"make"}}` + "\n"
)

// TestVainTriesAreEnded: a turn is ended as soon as further retries are pointless, and no
// earlier.
func TestVainTriesAreEnded(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		agent, says string
		want        loop.Ending
		after       time.Duration
	}{
		"a key that is refused":           {"claude", withKey + refused1 + refused2, loop.EndAuth, time.Second},
		"a token that is refused once":    {"claude", withToken + refused1, loop.EndInterrupted, time.Hour},
		"a token that is refused again":   {"claude", withToken + refused1 + refused2, loop.EndAuth, 2 * time.Second},
		"a service that is overloaded":    {"claude", withKey + busy, loop.EndInterrupted, time.Hour},
		"a limit, and silence":            {"codex", begun + limited, loop.EndRateLimited, time.Second + maxLimited},
		"a limit that the agent got over": {"codex", begun + limited + goesOn, loop.EndInterrupted, time.Hour},
		"a limit that is met again":       {"codex", begun + limited + goesOn + limited, loop.EndRateLimited, 3*time.Second + maxLimited},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reply, took := listens(t, test.agent, test.says, time.Second)
			if reply.Ending != test.want || took != test.after {
				t.Errorf("it ended %s after %s, want %s after %s: %s", reply.Ending, took, test.want, test.after, reply.Reason)
			}
		})
	}
}

// Closing events, and what may follow them.
const (
	closes   = `{"type":"result","subtype":"success","is_error":false,"result":"DECISION: DONE"}` + "\n"
	closeBad = `{"type":"result","subtype":"success","is_error":true,"result":"trouble"}` + "\n"
	note     = `{"type":"system","subtype":"status"}` + "\n"
	goesOn2  = `{"type":"assistant","message":{"content":[{"type":"text","text":"More."}]}}` + "\n"
	taskRuns = `{"type":"system","subtype":"background_tasks_changed","tasks":[{"task_id":"t"}]}` + "\n"
	served   = `{"type":"system","subtype":"background_tasks_changed","tasks":[{"task_id":"t","ambient":true}]}` + "\n"
	noTask   = `{"type":"system","subtype":"background_tasks_changed","tasks":[]}` + "\n"
)

// TestUnexited: an agent that does not exit after its closing event is ended, and its reply
// counts.
func TestUnexited(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		says  string
		want  loop.Ending
		after time.Duration
	}{
		"closed":               {withKey + closes, loop.EndCompleted, time.Second + closingGrace},
		"closed with an error": {withKey + closeBad, loop.EndFailed, time.Second + closingGrace},
		"prints a little":      {withKey + closes + note + note, loop.EndCompleted, 3*time.Second + closingGrace},
		"prints on and on":     {withKey + closes + strings.Repeat(note, 200), loop.EndCompleted, time.Second + longestGrace},
		"goes on":              {withKey + closes + goesOn2, loop.EndInterrupted, time.Hour},
		"goes on and closes":   {withKey + closes + goesOn2 + closes, loop.EndCompleted, 3*time.Second + closingGrace},
		"waits for a task":     {withKey + taskRuns + closes, loop.EndInterrupted, time.Hour},
		"has waited for it":    {withKey + taskRuns + closes + noTask, loop.EndCompleted, 3*time.Second + closingGrace},
		"leaves a server":      {withKey + served + closes, loop.EndCompleted, 2*time.Second + closingGrace},
		"not closed":           {withKey + goesOn2, loop.EndInterrupted, time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reply, took := listens(t, "claude", test.says, time.Second)
			if reply.Ending != test.want || took != test.after {
				t.Errorf("it ended %s after %s, want %s after %s: %s", reply.Ending, took, test.want, test.after, reply.Reason)
			}
			if reply.Ending == loop.EndCompleted && (!strings.Contains(reply.Text, "DECISION: DONE") || reply.ExitCode != 0) {
				t.Errorf("exit code %d, %q", reply.ExitCode, reply.Text)
			}
		})
	}
}

// TestHiddenTool: if an agent reports a tool only after it has ended, silence is shown
// once as a tool at work.
func TestHiddenTool(t *testing.T) {
	t.Parallel()
	const (
		step  = `{"type":"step_start","sessionID":"s"}` + "\n"
		said  = `{"type":"text","part":{"text":"I look."}}` + "\n"
		used  = `{"type":"tool_use","part":{"tool":"bash","state":{"input":{"command":"make"}}}}` + "\n"
		ended = `{"type":"step_finish","part":{"reason":"stop"}}` + "\n"
	)
	for name, test := range map[string]struct {
		says  string
		pause time.Duration
		want  []string
	}{
		"a slow tool":   {step + said + used + ended, 9 * time.Second, []string{"tool", "message", "tool", "command", "tool"}},
		"a quick one":   {step + said + used + ended, time.Second, []string{"message", "command"}},
		"an end of one": {ended, time.Minute, []string{"problem"}}, // it does not exit
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			synctest.Test(t, func(*testing.T) {
				l := newListener("opencode-json", 1<<10, func(n loop.Notice) { got = append(got, string(n.Kind)) }, func() {})
				for line := range strings.Lines(test.says) {
					l.hear("stdout", []byte(line))
					time.Sleep(test.pause)
				}
				l.end()
				time.Sleep(time.Hour)
			})
			if !slices.Equal(got, test.want) {
				t.Errorf("notices %q, want %q", got, test.want)
			}
		})
	}
}

// A reader is a Starter that reads the file named by an option.
type reader struct {
	option string
	file   string
	text   []byte
}

func (p *reader) Run(_ context.Context, cmd proc.Command) (proc.Result, error) {
	var err error
	if i := slices.Index(cmd.Argv, p.option); i >= 0 {
		p.file = cmd.Argv[i+1]
		p.text, err = os.ReadFile(p.file)
	}
	return proc.Result{}, err
}

// TestPolicyFile: a CLI's policy file exists during its turn, and only then.
func TestPolicyFile(t *testing.T) {
	t.Parallel()
	spec, err := Find("gemini")
	if err != nil {
		t.Fatal(err)
	}
	p := &reader{option: "--policy"}
	a := &Agent{spec: spec, at: Place{Starter: p, Outputs: t.TempDir()}, paths: map[loop.Access]string{loop.ReadOnly: "/bin/gemini"}}
	if _, err := a.Run(t.Context(), Request{Role: loop.RoleCritic, Iteration: 1}); err != nil {
		t.Fatal(err)
	}
	if string(p.text) != spec.Policy || !strings.HasSuffix(p.file, ".toml") {
		t.Errorf("%s holds %q", p.file, p.text)
	}
	if _, err := os.Stat(p.file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is still there: %v", err)
	}
}

// TestSpins: an agent that asks its model again and again is ended.
func TestSpins(t *testing.T) {
	t.Parallel()
	says := strings.Repeat(`{"type":"step_start","part":{}}`+"\n"+`{"type":"step_finish","part":{"reason":"unknown"}}`+"\n", 30)
	reply, took := listens(t, "opencode", says, time.Second)
	if reply.Ending != loop.EndSpinning || !strings.Contains(reply.Reason, "20 requests") || took > time.Minute {
		t.Errorf("%s after %v: %s", reply.Ending, took, reply.Reason)
	}
}
