package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/sys/unix"

	"codeloops/internal/agent/scripted"
	"codeloops/internal/command"
	"codeloops/internal/screen/term/termtest"
)

// A desk is a run of codeloops on its own terminal, with an agent whose rate limit ends in an hour.
type desk struct {
	t    *testing.T
	main *os.File // the user's side
	cmd  *exec.Cmd

	mu    sync.Mutex
	shown bytes.Buffer
	ended chan struct{}
}

// newDesk starts it. The agent continues when it is asked again.
func newDesk(t *testing.T, env ...string) *desk {
	t.Helper()
	return newDeskBy(t, nil, env...)
}

// newDeskBy starts it by another command, to which codeloops and its arguments are appended.
func newDeskBy(t *testing.T, by []string, env ...string) *desk {
	t.Helper()
	home := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	scenario := write("scenario.toml", `
[[actor]]
fault = "rate_limited"
reason = "5-hour limit reached"
reset_after = "1h"
exit = 1
again = [{ say = "done" }]
[[critic]]
say = "DECISION: DONE"
`)
	write(".config/codeloops/config.toml", fmt.Sprintf(
		"agent = \"tired\"\n[agents.tired]\ncommand = [%q, %q, \"--script\", %q, \"--format\", \"claude-stream-json\"]\noutput = \"claude-stream-json\"\n",
		exe, scripted.Command, scenario))
	work := filepath.Join(home, "work")
	if out, err := exec.Command("git", "init", "-q", work).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	main, name := termtest.Open(t)
	screen, err := os.OpenFile(name, os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{t: t, main: main, ended: make(chan struct{})}
	by = append(slices.Clone(by), exe, "wait for it to end")
	d.cmd = exec.Command(by[0], by[1:]...)
	d.cmd.Dir = work
	d.cmd.Env = append([]string{
		playCodeloops + "=1", "PATH=" + os.Getenv("PATH"), "HOME=" + home, "TERM=xterm", "TZ=UTC",
		"CODELOOPS_SESSION_DIR=" + filepath.Join(home, "sessions"), "GORACE=atexit_sleep_ms=0",
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
	}, env...)
	d.cmd.Stdin, d.cmd.Stdout, d.cmd.Stderr = screen, screen, screen
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := screen.Close(); err != nil {
		t.Fatal(err)
	}
	go d.read()
	t.Cleanup(func() { _ = d.cmd.Process.Kill() })
	return d
}

func (d *desk) read() {
	defer close(d.ended)
	buf := make([]byte, 4<<10)
	for {
		n, err := d.main.Read(buf) // ends with EIO when the last process closes the other side
		d.mu.Lock()
		d.shown.Write(buf[:n])
		d.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (d *desk) text() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.shown.String()
}

// await waits for a condition.
func (d *desk) await(what string, so func() bool) {
	d.t.Helper()
	for end := time.Now().Add(liveness); !so(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			d.t.Fatalf("timed out waiting until %s: %q", what, d.text())
		}
	}
}

func (d *desk) modes() *unix.Termios {
	d.t.Helper()
	modes, err := unix.IoctlGetTermios(int(d.main.Fd()), unix.TCGETS)
	if err != nil {
		d.t.Fatal(err)
	}
	return modes
}

// cooked reports whether the terminal has its initial modes: line by line, with echo.
func (d *desk) cooked() bool {
	modes := d.modes()
	const both = unix.ICANON | unix.ECHO
	return modes.Lflag&both == both && modes.Lflag&unix.ISIG != 0
}

func (d *desk) types(keys string) {
	d.t.Helper()
	if _, err := d.main.WriteString(keys); err != nil {
		d.t.Fatal(err)
	}
}

// waits waits until the countdown is shown and keys are read.
func (d *desk) waits() {
	d.t.Helper()
	d.await("it waits", func() bool { return strings.Contains(d.text(), "w tries again now") })
	d.await("keys are read", func() bool { return !d.cooked() })
}

// ends checks the exit code, and that the terminal was restored.
func (d *desk) ends(code int) {
	d.t.Helper()
	kill := time.AfterFunc(liveness, func() { _ = d.cmd.Process.Kill() })
	defer kill.Stop()
	_ = d.cmd.Wait()
	<-d.ended // all its output has been read
	if got := d.cmd.ProcessState.ExitCode(); got != code {
		d.t.Errorf("exit code %d, want %d: %q", got, code, d.text())
	}
	if !d.cooked() {
		d.t.Error("the terminal was not restored")
	}
}

func (d *desk) state() string {
	return state(d.cmd.Process.Pid)
}

// state returns the letter for a process's state in /proc.
func state(pid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return rest[:min(1, len(rest))]
}

// child returns the child of a process, 0 if it has none.
func child(t *testing.T, of int) int {
	t.Helper()
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", of))
	if err != nil {
		t.Fatal(err)
	}
	pid, _ := strconv.Atoi(strings.TrimSpace(string(children)))
	return pid
}

// counted returns the times that it has shown in one row, in order.
func (d *desk) counted() (left []time.Duration) {
	d.t.Helper()
	for _, shown := range regexp.MustCompile(`waiting ([0-9:]+) for the rate limit`).FindAllStringSubmatch(ansi.Strip(d.text()), -1) {
		var seconds int
		for part := range strings.SplitSeq(shown[1], ":") {
			n, err := strconv.Atoi(part)
			if err != nil {
				d.t.Fatalf("it shows %q", shown[0])
			}
			seconds = 60*seconds + n
		}
		left = append(left, time.Duration(seconds)*time.Second)
	}
	return left
}

func TestWaitIsEndedByAKey(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.waits()
	d.await("it counts down", func() bool {
		left := d.counted()
		return len(left) > 1 && left[0] > left[len(left)-1]
	})
	if first := d.counted()[0]; first > time.Hour+4*time.Second || first < time.Hour-liveness {
		t.Errorf("the countdown of an hour starts at %s", first)
	}
	d.types("xyw")
	d.ends(command.ExitDone)
	shown := ansi.Strip(d.text())
	if !strings.Contains(strings.Join(strings.Fields(shown), " "), "! the rate limit is reached (5-hour limit reached): waiting until ") || !strings.Contains(shown, "Done after 1 iteration") {
		t.Errorf("shown: %q", shown)
	}
	if _, after, _ := strings.Cut(shown, "Done after"); strings.Contains(after, "waiting ") {
		t.Errorf("it still counts: %q", after)
	}
}

// TestWaitInANarrowTerminal: the countdown stays in one row even after the terminal has become
// narrower.
func TestWaitInANarrowTerminal(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.waits()
	if err := unix.IoctlSetWinsize(int(d.main.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 20, Col: 20}); err != nil {
		t.Fatal(err)
	}
	before := len(d.text())
	// Earlier output may still be missing, and the last row may be incomplete.
	d.await("it counts down in 20 columns", func() bool {
		rows := strings.Split(ansi.Strip(d.text()[before:]), "\r\n")
		return slices.ContainsFunc(rows[:len(rows)-1], func(row string) bool {
			return ansi.StringWidth(row) < 20 && strings.Contains(row, " waiting ") && strings.HasSuffix(row, "…")
		})
	})
	d.types("w")
	d.ends(command.ExitDone)
}

func TestWaitOnADumbTerminal(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "TERM=dumb")
	d.waits()
	d.types("W")
	d.ends(command.ExitDone)
	if shown := d.text(); strings.Contains(shown, "\x1b") || strings.Count(shown, "w tries again now") != 1 {
		t.Errorf("shown: %q", shown)
	}
}

func TestWaitIsInterrupted(t *testing.T) {
	t.Parallel()
	for name, how := range map[string]func(*desk){
		"Ctrl+C":  func(d *desk) { d.types("\x03") },
		"SIGTERM": func(d *desk) { _ = d.cmd.Process.Signal(unix.SIGTERM) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.waits()
			how(d)
			d.ends(command.ExitInterrupted)
			if shown := ansi.Strip(d.text()); !strings.Contains(shown, "Interrupted after 0 iterations") {
				t.Errorf("shown: %q", shown)
			}
		})
	}
}

func TestWaitQuits(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.waits()
	d.types("\x1c")
	d.ends(2) // the exit code of a Go program after SIGQUIT
}

// TestWaitIsStopped: the process can be stopped with Ctrl+Z in the middle of a wait, and continued.
func TestWaitIsStopped(t *testing.T) {
	t.Parallel()
	d := newDeskBy(t, []string{"sh", "-c", `set -m; "$0" "$@"; read -r go; fg`})
	d.waits()
	worker := child(t, d.cmd.Process.Pid)
	d.types("\x1a")
	d.await("it is stopped", func() bool { return state(worker) == "T" })
	if !d.cooked() {
		t.Error("the terminal was not restored")
	}
	d.types("go\n")
	d.await("keys are read again", func() bool { return !d.cooked() })
	d.types("w")
	d.ends(command.ExitDone)
}

// TestWaitIsNotStopped: without a shell that could continue the process, Ctrl+Z is ignored, as the
// system would.
func TestWaitIsNotStopped(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.waits()
	d.types("\x1aw")
	d.ends(command.ExitDone)
}

// TestWaitGoesOn: the wait continues after SIGSTOP, after which the shell resets the terminal.
func TestWaitGoesOn(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.waits()
	found := d.modes()
	found.Lflag |= unix.ICANON | unix.ECHO
	found.Cc[unix.VMIN] = 1
	if err := d.cmd.Process.Signal(unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	d.await("it is stopped", func() bool { return d.state() == "T" })
	if err := unix.IoctlSetTermios(int(d.main.Fd()), unix.TCSETS, found); err != nil {
		t.Fatal(err)
	}
	if err := d.cmd.Process.Signal(unix.SIGCONT); err != nil {
		t.Fatal(err)
	}
	d.await("keys are read again", func() bool { return !d.cooked() })
	d.types("w")
	d.ends(command.ExitDone)
}

// TestWaitIsKilled kills the process, so that nothing resets the terminal: the next reader, such as
// a shell, must block for input and not see an end of file.
func TestWaitIsKilled(t *testing.T) {
	t.Parallel()
	d := newDeskBy(t, []string{"sh", "-c", `"$0" "$@"; echo "it is gone"; read -r word; echo "read $?: $word"`})
	d.waits()
	if err := unix.Kill(child(t, d.cmd.Process.Pid), unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	d.await("the shell reads", func() bool { return strings.Contains(d.text(), "it is gone") })
	time.Sleep(300 * time.Millisecond) // enough for a non-blocking read to return
	if strings.Contains(d.text(), "read 1") {
		t.Fatalf("the terminal reported an end of file: %q", d.text())
	}
	d.types("go on\n")
	d.await("the shell has read", func() bool { return strings.Contains(d.text(), "read 0: go on") })
}
