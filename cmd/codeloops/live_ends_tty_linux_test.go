package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"codeloops/internal/command"
	"codeloops/internal/loop"
	"codeloops/internal/screen/term"
	"codeloops/internal/session"
)

// atWork is the scenario of an actor that writes its process ID to a file and works until another
// file exists. A stubborn one ignores signals.
func atWork(stubborn bool) string {
	trap := ""
	if stubborn {
		trap = "trap '' TERM INT HUP; "
	}
	return `
[[actor]]
step = [{ run = "` + trap + `echo $$ >$HOME/made && mv $HOME/made $HOME/here; until [ -e $HOME/go ]; do sleep 0.02; done", own_session = true }]
say = "one"
[[critic]]
say = "DECISION: DONE\nSEAL: {seal}"
`
}

// awaitWork waits until the actor works, and returns its directory in /proc.
func awaitWork(t *testing.T, home string) string {
	t.Helper()
	for end := time.Now().Add(liveness); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if pid, err := os.ReadFile(filepath.Join(home, "here")); err == nil {
			return "/proc/" + strings.TrimSpace(string(pid))
		}
	}
	t.Fatal("the actor does not start")
	return ""
}

// gone checks that a process has ended.
func gone(t *testing.T, proc string) {
	t.Helper()
	if _, err := os.Stat(proc); err == nil {
		t.Error("the actor is still running")
	}
}

// TestLiveIsInterrupted: a second Ctrl+C ends an actor that ignores the first.
func TestLiveIsInterrupted(t *testing.T) {
	t.Parallel()
	home, work := scriptedHome(t, atWork(true))
	d := onDesk(t, home, work, "--yes", "do it")
	actor := awaitWork(t, home)
	d.sees("iteration 1 of 10")
	d.types("\x03")
	d.sees("Ctrl+C again kills at once")
	d.types("\x03")
	shown, code := d.end()
	if shown = ansi.Strip(shown); code != command.ExitInterrupted || !strings.Contains(shown, "Interrupted after 0 iterations") || !strings.Contains(shown, "codeloops resume") {
		t.Errorf("exit code %d: %q", code, shown)
	}
	if got := d.modes(); got != d.found {
		t.Errorf("modes %+v, want %+v", got, d.found)
	}
	gone(t, actor)
}

// TestLiveIsStopped: Ctrl+Z stops codeloops under a shell, but not the actor; when it continues,
// the screen is drawn again.
func TestLiveIsStopped(t *testing.T) {
	t.Parallel()
	home, work := scriptedHome(t, atWork(false))
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	d := talkTo(t, work, []string{
		"HOME=" + home, "CODELOOPS_SESSION_DIR=" + filepath.Join(home, "sessions"),
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
	}, "bash", "--norc", "--noprofile", "-i")
	d.types("PS1=ready'> '\r")
	d.sees("ready> ")
	d.types(playCodeloops + "=1 " + exe + " --yes 'do it'\r")
	actor := awaitWork(t, home)
	d.sees("iteration 1 of 10")
	d.types("\x1a")
	d.sees("the agent keeps working; fg shows it again")
	d.sees("Stopped")
	if before, _, _ := strings.Cut(d.text(), "Stopped"); !strings.Contains(before, term.PasteOff) {
		t.Errorf("the pasted text still has its markers: %q", before)
	}
	if _, err := os.Stat(actor); err != nil {
		t.Errorf("the actor was stopped, too: %v", err)
	}
	d.types("fg\r")
	d.sees("iteration 1 of 10")
	d.sees(term.PasteOn)
	if err := os.WriteFile(filepath.Join(home, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d.sees(" after 1 iteration in ")
	d.types("exit\r") // the run is over; its process is left to the shell
	d.end()
}

// TestLiveIsHungUp: closing the terminal ends the run like Ctrl+C.
func TestLiveIsHungUp(t *testing.T) {
	t.Parallel()
	script, err := exec.LookPath("script")
	if err != nil {
		t.Skip("script(1) is not installed, whose terminal could be closed")
	}
	home, work := scriptedHome(t, atWork(false))
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	sessions := filepath.Join(home, "sessions")
	cmd := exec.Command(script, "-q", "-c", exe+" --yes 'do it'", os.DevNull)
	cmd.Dir = work
	cmd.Env = []string{
		playCodeloops + "=1", "PATH=" + os.Getenv("PATH"), "HOME=" + home, "TERM=xterm", "CODELOOPS_SESSION_DIR=" + sessions,
		"GORACE=atexit_sleep_ms=0", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "SHELL=/bin/sh",
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := startHearing(cmd); err != nil {
		t.Fatal(err)
	}
	actor := awaitWork(t, home)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	logs, err := filepath.Glob(filepath.Join(sessions, "*.jsonl"))
	if err != nil || len(logs) != 1 {
		t.Fatal(logs, err)
	}
	one := session.Look(logs[0])
	for end := time.Now().Add(liveness); one.Outcome == nil && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		one = session.Look(logs[0])
	}
	if one.Outcome == nil || one.Outcome.Result != loop.Interrupted {
		t.Errorf("it ended as %+v", one.Outcome)
	}
	gone(t, actor)
}
