//go:build unix

package scripted

import (
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestSignals(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"{ hang = true }", "{ sleep = '1h' }", "{ wait_for = 'never' }"} {
		if sig := signalled(t, "{ write = 'ready' }, "+step, syscall.SIGTERM); sig != syscall.SIGTERM {
			t.Errorf("%s: ended by %v", step, sig)
		}
		if sig := signalled(t, "{ ignore_term = true }, { write = 'ready' }, "+step, syscall.SIGTERM, syscall.SIGINT, syscall.SIGKILL); sig != syscall.SIGKILL {
			t.Errorf("%s, with ignore_term: ended by %v", step, sig)
		}
	}
}

// signalled plays the steps and, when the file "ready" exists, sends the signals with
// short pauses. It returns the signal that ended the agent.
func signalled(t *testing.T, steps string, signals ...syscall.Signal) syscall.Signal {
	t.Helper()
	cmd := agent(t, "[[actor]]\nstep = ["+steps+"]")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	await(t, filepath.Join(cmd.Dir, "ready"))
	for _, s := range signals {
		if err := cmd.Process.Signal(s); err != nil {
			t.Errorf("it was gone before %v: %v", s, err)
		}
		if len(signals) > 1 {
			time.Sleep(20 * time.Millisecond)
		}
	}
	_ = cmd.Wait()
	return cmd.ProcessState.Sys().(syscall.WaitStatus).Signal()
}

func TestDiesOfASignal(t *testing.T) {
	t.Parallel()
	cmd := agent(t, "[[actor]]\nstep = [{ run = 'kill -KILL $PPID' }, { hang = true }]")
	_ = cmd.Run()
	if sig := cmd.ProcessState.Sys().(syscall.WaitStatus).Signal(); sig != syscall.SIGKILL {
		t.Errorf("ended by %v", sig)
	}
}

// A spawned process outlives the agent. With hold_output it keeps the agent's output
// open.
func TestSpawn(t *testing.T) {
	t.Parallel()
	for _, hold := range []string{"false", "true"} {
		cmd := agent(t, `[[actor]]
say = "done"
step = [{ spawn = "echo $$ > pid.tmp; mv pid.tmp pid; exec sleep 300", hold_output = `+hold+` }, { wait_for = "pid" }]`)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		eof := make(chan string, 1)
		go func() {
			data, _ := io.ReadAll(out)
			eof <- string(data)
		}()
		if _, err := cmd.Process.Wait(); err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(await(t, filepath.Join(cmd.Dir, "pid"))))
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(pid, 0); err != nil {
			t.Errorf("hold_output = %s: the spawned process is gone: %v", hold, err)
		}
		if hold == "true" {
			select {
			case <-eof:
				t.Error("the spawned process does not hold the output")
			case <-time.After(100 * time.Millisecond):
			}
		}
		if hold == "false" && <-eof != "done\n" {
			t.Error("the output did not end as the agent did")
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Error(err)
		}
		if hold == "true" && <-eof != "done\n" {
			t.Error("the output is not the agent's")
		}
	}
}

func TestOwnSession(t *testing.T) {
	t.Parallel()
	// The leader of a session also leads its process group.
	const leads = `[ "$(ps -o pgid= -p $$ | tr -d ' ')" = $$ ] && echo leads || echo follows`
	cmd := agent(t, `[[actor]]
step = [
  { run = '''`+leads+`''' }, { run = '''`+leads+`''', own_session = true },
  { spawn = '''{ `+leads+`; } > tmp; mv tmp spawned''', own_session = true }, { wait_for = "spawned" }, { run = "cat spawned" },
]`)
	if got := play(t, cmd); got != (played{"follows\nleads\nleads\n", "", 0}) {
		t.Errorf("%+v", got)
	}
}
