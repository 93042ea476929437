//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"codeloops/internal/queue/git/gittest"
)

// TestHookBug: a bug in a goroutine, while a critic judges for a hook, ends the hook by a signal. Agents take that for a hook
// that has failed, but 2, Go's exit code, for a decision to go on.
func TestHookBug(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	work, bug, home := filepath.Join(dir, "work"), filepath.Join(dir, "bug"), filepath.Join(dir, "home")
	env := append(gittest.Environ(home), playCodeloops+"=1", bugAt+"="+bug, "GORACE=atexit_sleep_ms=0")
	run := func(in string, args ...string) (*exec.Cmd, string) {
		t.Helper()
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir, cmd.Env, cmd.Stdin = work, env, strings.NewReader(in)
		out, err := cmd.CombinedOutput()
		if err != nil && args[0] == "git" {
			t.Fatalf("%v: %s", err, out)
		}
		return cmd, string(out)
	}
	put := func(path, text string) {
		t.Helper()
		err := os.MkdirAll(filepath.Dir(path), 0o700)
		if err == nil {
			err = os.WriteFile(path, []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	put(filepath.Join(work, "a"), "a\n")
	for _, args := range [][]string{{"git", "init", "-q"}, {"git", "add", "-A"}, {"git", "commit", "-q", "-m", "start"}} {
		run("", args...)
	}
	put(filepath.Join(home, ".config", "codeloops", "config.toml"), "[critic]\nagent = \"judge\"\n[agents.judge]\ncommand = [\"sh\", \"-c\", \"touch "+bug+"; sleep 60\"]\n")
	event := func(name string) string {
		return `{"hook_event_name":"` + name + `","session_id":"s","cwd":"` + work + `","prompt":"greet the world","last_assistant_message":"done"}`
	}
	hook, out := run(event("UserPromptSubmit"), os.Args[0], "gate", "--hook", "claude")
	if out != "" || !hook.ProcessState.Success() {
		t.Fatalf("%v: %s", hook.ProcessState, out)
	}
	put(filepath.Join(work, "b"), "b\n")
	hook, out = run(event("Stop"), os.Args[0], "gate", "--hook", "claude")
	if hook.ProcessState.Exited() || !strings.Contains(out, "panic: a bug") {
		t.Errorf("%v: %s", hook.ProcessState, out)
	}
}
