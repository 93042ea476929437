package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/sys/unix"

	"codeloops/internal/command"
	"codeloops/internal/screen/term/termtest"
)

// terminal runs codeloops on a pseudo-terminal of 70 columns, types into it, and returns its output
// and exit code.
func terminal(t *testing.T, dir string, env []string, typed string, args ...string) (string, int) {
	t.Helper()
	main, name := termtest.Open(t)
	screen, err := os.OpenFile(name, os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, args...)
	cmd.Dir = t.TempDir()
	cmd.Env = append([]string{
		playCodeloops + "=1", "PATH=" + os.Getenv("PATH"), "HOME=" + cmd.Dir, "TERM=xterm", "TZ=UTC",
		"CODELOOPS_SESSION_DIR=" + dir, "GORACE=atexit_sleep_ms=0",
	}, env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = screen, screen, screen
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := screen.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := main.WriteString(typed); err != nil {
		t.Fatal(err)
	}
	kill := time.AfterFunc(liveness, func() { _ = cmd.Process.Kill() })
	defer kill.Stop()
	var shown bytes.Buffer
	_, _ = shown.ReadFrom(main) // ends with EIO when the last process closes the other side
	_ = cmd.Wait()
	return strings.ReplaceAll(shown.String(), "\r\n", "\n"), cmd.ProcessState.ExitCode()
}

// A dialogue is codeloops on a pseudo-terminal whose output is read and that gets input.
type dialogue struct {
	t     *testing.T
	main  *os.File
	cmd   *exec.Cmd
	found unix.Termios // the initial modes of the terminal

	mu    sync.Mutex
	shown bytes.Buffer
	ended chan struct{}
}

// talk starts codeloops with a session directory.
func talk(t *testing.T, dir string, env []string, args ...string) *dialogue {
	t.Helper()
	return talkIn(t, t.TempDir(), append([]string{"CODELOOPS_SESSION_DIR=" + dir}, env...), args...)
}

// talkIn starts codeloops in a directory.
func talkIn(t *testing.T, work string, env []string, args ...string) *dialogue {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return talkTo(t, work, append([]string{playCodeloops + "=1"}, env...), exe, args...)
}

// talkTo starts another program in a directory that is also its home.
func talkTo(t *testing.T, work string, env []string, program string, args ...string) *dialogue {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir = work
	cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + work, "TERM=xterm", "TZ=UTC", "GORACE=atexit_sleep_ms=0", "PAGER=cat",
	}, env...)
	return onTerminal(t, cmd)
}

// onTerminal starts a command.
func onTerminal(t *testing.T, cmd *exec.Cmd) *dialogue {
	t.Helper()
	main, name := termtest.Open(t)
	screen, err := os.OpenFile(name, os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	d := &dialogue{t: t, main: main, cmd: cmd, ended: make(chan struct{})}
	d.found = d.modes()
	d.cmd.Stdin, d.cmd.Stdout, d.cmd.Stderr = screen, screen, screen
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := errors.Join(startHearing(d.cmd), screen.Close()); err != nil {
		t.Fatal(err)
	}
	kill := time.AfterFunc(liveness, func() { _ = d.cmd.Process.Kill() })
	t.Cleanup(func() { kill.Stop(); _ = d.cmd.Process.Kill() })
	go func() {
		defer close(d.ended)
		buf := make([]byte, 4096)
		for {
			n, err := main.Read(buf)
			d.mu.Lock()
			d.shown.Write(buf[:n])
			d.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return d
}

func (d *dialogue) text() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return strings.ReplaceAll(d.shown.String(), "\r\n", "\n")
}

// sees waits until a text has been shown since the last input.
func (d *dialogue) sees(text string) {
	d.t.Helper()
	for end := time.Now().Add(liveness); !strings.Contains(d.text(), text); time.Sleep(5 * time.Millisecond) {
		select {
		case <-d.ended:
			if !strings.Contains(d.text(), text) {
				d.t.Fatalf("it ended before it showed %q: %q", text, d.text())
			}
		default:
		}
		if time.Now().After(end) {
			d.t.Fatalf("timed out waiting for %q in %q", text, d.text())
		}
	}
}

// types discards the output so far, and types.
func (d *dialogue) types(keys string) {
	d.t.Helper()
	d.mu.Lock()
	d.shown.Reset()
	d.mu.Unlock()
	if _, err := d.main.WriteString(keys); err != nil {
		d.t.Fatal(err)
	}
}

// end waits for the end and returns the last output and the exit code.
func (d *dialogue) end() (string, int) {
	d.t.Helper()
	select {
	case <-d.ended:
	case <-time.After(liveness):
		d.t.Fatalf("it does not end: %q", d.text())
	}
	_ = d.cmd.Wait()
	return d.text(), d.cmd.ProcessState.ExitCode()
}

// modes returns the modes of the terminal.
func (d *dialogue) modes() unix.Termios {
	d.t.Helper()
	modes, err := unix.IoctlGetTermios(int(d.main.Fd()), unix.TCGETS)
	if err != nil {
		d.t.Fatal(err)
	}
	return *modes
}

// shelf is a session directory with one session of the original tool that has a long diff.
func shelf(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	log := `{"type":"session_start","timestamp":"2025-01-27T15:30:45Z","prompt":"Fix the \u001b[2Jbug that is described at length in the tracker, with tests","working_dir":"/home/user/project","actor_agent":"claude","critic_agent":"opencode","actor_model":null,"critic_model":null,"max_iterations":10}
{"type":"iteration","iteration_number":1,"actor_output":"Done.","actor_stderr":"","actor_exit_code":0,"actor_duration_secs":74.5,"git_diff":"diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -0,0 +1,6000 @@\n` +
		strings.Repeat(`+new \u001b[31mred\n`, 6_000) + `","git_files_changed":1,"critic_decision":"DONE","feedback":null,"timestamp":"2025-01-27T15:32:00Z"}
{"type":"session_end","outcome":"success","iterations":1,"summary":"Fixed","confidence":0.95,"duration_secs":135.0,"timestamp":"2025-01-27T15:33:01Z"}
`
	if err := os.WriteFile(filepath.Join(dir, "2025-01-27T15-30-45Z_d4f2aa.jsonl"), []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestListOnATerminal(t *testing.T) {
	t.Parallel()
	dir := shelf(t)
	shown, code := terminal(t, dir, nil, "", "sessions", "list")
	lines := strings.Split(strings.TrimSuffix(shown, "\n"), "\n")
	if code != 0 || len(lines) != 2 {
		t.Fatalf("exit code %d: %q", code, shown)
	}
	want := "2025-01-27T15-30-45Z_d4f2aa  project  success     1  Fix the bug that…"
	if got := ansi.Strip(lines[1]); ansi.StringWidth(got) > 70 || got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if !strings.Contains(lines[1], "\x1b[32msuccess\x1b[0m") || strings.Contains(shown, "\x1b[2J") {
		t.Errorf("colours or control sequences: %q", shown)
	}
	if plain, _ := terminal(t, dir, []string{"NO_COLOR=1"}, "", "sessions", "list"); plain != strings.ReplaceAll(shown, "\x1b[32msuccess\x1b[0m", "success") {
		t.Errorf("with NO_COLOR: %q", plain)
	}
}

// TestListOfNoneOnATerminal says why the list is empty, and what to do about it.
func TestListOfNoneOnATerminal(t *testing.T) {
	t.Parallel()
	demo := t.TempDir()
	log := `{"type":"session_start","timestamp":"2025-01-27T15:30:45Z","prompt":"slug","working_dir":"/tmp/codeloops-demo-1/slug","actor_agent":"scripted","critic_agent":"scripted","actor_model":null,"critic_model":null,"max_iterations":10}` + "\n"
	if err := os.WriteFile(filepath.Join(demo, "2025-01-27T15-30-45Z_d4f2aa.jsonl"), []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		dir, want string
		flags     []string
	}{
		{t.TempDir(), "no sessions yet; to begin one: codeloops \"what to do\"\n", nil},
		{t.TempDir(), "[]\n", []string{"--json"}},
		{t.TempDir(), "", []string{"--jsonl"}},
		{demo, "no sessions but demonstrations; codeloops sessions list --all shows them\n", nil},
		{shelf(t), "no session matches these flags; without them, codeloops sessions list shows all\n", []string{"--project", "."}},
	} {
		if got, code := terminal(t, tc.dir, nil, "", append([]string{"sessions", "list"}, tc.flags...)...); got != tc.want || code != 0 {
			t.Errorf("%q: exit code %d\ngot  %q\nwant %q", tc.flags, code, got, tc.want)
		}
	}
}

// TestDiffOnATerminal: a diff is shown in a pager that works, that is left early, or that is
// missing.
func TestDiffOnATerminal(t *testing.T) {
	t.Parallel()
	dir := shelf(t)
	plain, code := terminal(t, dir, nil, "", "sessions", "diff", "--no-pager")
	if code != 0 || strings.Count(plain, "\n") != 6_004 {
		t.Fatalf("exit code %d, %d lines", code, strings.Count(plain, "\n"))
	}
	if !strings.Contains(plain, "\x1b[32m+new red\x1b[0m\n") || strings.Contains(plain, "\x1b[31mred") {
		t.Errorf("got %.300q", plain)
	}
	for pager, want := range map[string]string{
		"cat": plain, "": plain, "no-such-pager": plain,
		"sed -n 's/^/paged: /;$p'":       "paged: \x1b[32m+new red\x1b[0m\n",
		`sh -c 'echo "$LESS"' <&-`:       "FRX\n",
		"head -n 1":                      "\x1b[1mdiff --git a/f b/f\x1b[0m\n",
		"cat >/dev/null; echo 'a b' >&2": "a b\n",
	} {
		shown, code := terminal(t, dir, []string{"PAGER=" + pager}, "", "sessions", "diff")
		if pager == "no-such-pager" { // the shell reports that it is missing
			_, shown, _ = strings.Cut(shown, pager+": ")
			_, shown, _ = strings.Cut(shown, "\n")
		}
		if code != 0 || shown != want {
			t.Errorf("%s: exit code %d, %d bytes: %.300q", pager, code, len(shown), shown)
		}
	}
}

// TestPagerOnATerminal: the pager is found where git finds it.
func TestPagerOnATerminal(t *testing.T) {
	t.Parallel()
	dir, config := shelf(t), filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(config, []byte("[core]\n\tpager = \"cat >/dev/null; echo configured\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		env  []string
		want string
	}{
		"GIT_PAGER":  {[]string{"GIT_PAGER=echo first", "PAGER=echo third", "GIT_CONFIG_GLOBAL=" + config}, "first\n"},
		"core.pager": {[]string{"PAGER=echo third", "GIT_CONFIG_GLOBAL=" + config}, "configured\n"},
		"PAGER":      {[]string{"PAGER=echo third", "GIT_CONFIG_GLOBAL=" + os.DevNull}, "third\n"},
	} {
		if shown, code := terminal(t, dir, c.env, "", "sessions", "diff"); code != 0 || shown != c.want {
			t.Errorf("%s: exit code %d: %.200q", name, code, shown)
		}
	}
}

// library is a session directory with many sessions.
func library(t *testing.T, sessions int) string {
	t.Helper()
	dir := t.TempDir()
	for i := range sessions {
		at := time.Date(2025, 1, 1, 0, i, 0, 0, time.UTC)
		log := fmt.Sprintf(`{"type":"session_start","timestamp":%[1]q,"prompt":"Task number %[2]d, with \u001b[2J in it","working_dir":"/home/user/project","actor_agent":"claude","critic_agent":"opencode","actor_model":null,"critic_model":null,"max_iterations":10}
{"type":"iteration","iteration_number":1,"actor_output":"Done.","actor_stderr":"","actor_exit_code":0,"actor_duration_secs":74.5,"git_diff":"","git_files_changed":0,"critic_decision":"DONE","feedback":null,"timestamp":%[1]q}
{"type":"session_end","outcome":"success","iterations":1,"summary":"Fixed \u001b[2J it","confidence":0.95,"duration_secs":135.0,"timestamp":%[1]q}
`, at.Format(time.RFC3339), i)
		name := fmt.Sprintf("%s_%06x.jsonl", at.Format("2006-01-02T15-04-05Z"), i)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(log), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestPickOnATerminal(t *testing.T) {
	t.Parallel()
	dir := library(t, 40)
	d := talk(t, dir, nil, "sessions", "show")
	d.sees("40 of 40")
	d.types("number 17,\r")
	shown, code := d.end()
	if code != command.ExitDone || !strings.Contains(shown, "Task number 17, with") || !strings.Contains(shown, "Iteration 1") {
		t.Errorf("exit code %d: %q", code, shown)
	}
	if strings.Contains(shown, "number 17, with \x1b") {
		t.Errorf("not cleaned: %q", shown)
	}
}

// TestPickASCII: the list is ASCII on a terminal that has nothing else.
func TestPickASCII(t *testing.T) {
	t.Parallel()
	d := talk(t, library(t, 3), []string{"LC_ALL=C"}, "sessions", "show")
	d.sees("up/down move")
	d.types("\x1b")
	if shown, _ := d.end(); strings.ContainsAny(shown, "…─") {
		t.Errorf("%q", shown)
	}
}

// TestPickLeaves: however the list is left, the terminal is restored.
func TestPickLeaves(t *testing.T) {
	t.Parallel()
	dir := library(t, 3)
	for name, leave := range map[string]func(*dialogue){
		"escape":  func(d *dialogue) { d.types("\x1b") },
		"ctrl+c":  func(d *dialogue) { d.types("\x03") },
		"SIGTERM": func(d *dialogue) { _ = d.cmd.Process.Signal(syscall.SIGTERM) },
		"SIGHUP":  func(d *dialogue) { _ = d.cmd.Process.Signal(syscall.SIGHUP) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := talk(t, dir, nil, "sessions", "diff")
			d.sees("3 of 3")
			if d.modes() == d.found {
				t.Error("the terminal is not read key by key")
			}
			keep, err := os.OpenFile(fmt.Sprintf("/proc/%d/fd/0", d.cmd.Process.Pid), os.O_RDWR|unix.O_NOCTTY, 0) // modes are lost with the last open file
			if err != nil {
				t.Fatal(err)
			}
			leave(d)
			_ = d.cmd.Wait()
			if got := d.modes(); got != d.found {
				t.Errorf("modes %+v, want %+v", got, d.found)
			}
			if err := keep.Close(); err != nil {
				t.Fatal(err)
			}
			shown, code := d.end()
			if code != command.ExitInterrupted || !strings.Contains(shown, "\x1b[?1049l") || strings.Contains(shown, "hint") {
				t.Errorf("exit code %d: %q", code, shown)
			}
		})
	}
}

// TestPickResized: the list fits a terminal that becomes smaller.
func TestPickResized(t *testing.T) {
	t.Parallel()
	d := talk(t, library(t, 40), nil, "sessions", "show")
	d.sees("success")
	d.types("")
	if err := unix.IoctlSetWinsize(int(d.main.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 9, Col: 30}); err != nil {
		t.Fatal(err)
	}
	d.sees("↑↓ move  enter choose  esc le")
	d.types("\x1b[B\x1b[B\r")
	if shown, code := d.end(); code != command.ExitDone || !strings.Contains(shown, "Task number 37, with") {
		t.Errorf("exit code %d: %q", code, shown)
	}
}

// TestPickNowhere: if nobody can be asked, the latest session is taken.
func TestPickNowhere(t *testing.T) {
	t.Parallel()
	dir := library(t, 3)
	for _, env := range []string{"TERM=dumb", "TERM=", "CI=1"} {
		shown, code := terminal(t, dir, []string{env, "PAGER=cat"}, "", "sessions", "show")
		if code != command.ExitDone || !strings.Contains(shown, "Task number 2, with") || strings.Contains(shown, "\x1b[?1049h") {
			t.Errorf("%s: exit code %d: %q", env, code, shown)
		}
	}
	if shown, code := terminal(t, t.TempDir(), nil, "", "sessions", "show"); code != command.ExitError || !strings.Contains(shown, "holds none") {
		t.Errorf("without a session: exit code %d: %q", code, shown)
	}
}

// TestPickStopped: codeloops can be stopped under a shell and continued.
func TestPickStopped(t *testing.T) {
	t.Parallel()
	d := talkTo(t, t.TempDir(), []string{"CODELOOPS_SESSION_DIR=" + library(t, 3)}, "bash", "--norc", "--noprofile", "-i")
	d.types("PS1=ready'> '\r")
	d.sees("ready> ")
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	d.types(playCodeloops + "=1 " + exe + " sessions show\r")
	d.sees("3 of 3")
	for range 2 {
		d.types("\x1a")
		d.sees("Stopped")
		d.types("fg\r")
		d.sees("3 of 3")
	}
	d.types("number 1\r")
	d.sees("Iteration 1")
	d.types("exit\r")
	d.end()
}

// TestPickEndedWhileStopped: a shell that ends a stopped job sends two signals at once, and the
// list must not take the terminal between them.
func TestPickEndedWhileStopped(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	d := talkTo(t, t.TempDir(), []string{"CODELOOPS_SESSION_DIR=" + library(t, 3)}, "bash", "--norc", "--noprofile", "-i")
	d.types("PS1=ready'> '\r")
	d.sees("ready> ")
	d.types(playCodeloops + "=1 " + exe + " sessions show\r")
	d.sees("3 of 3")
	d.types("\x1a")
	d.sees("Stopped")
	pid := child(t, d.cmd.Process.Pid)
	d.types("kill %1\r")
	d.sees(`received the signal "terminated"`)
	for end := time.Now().Add(liveness); state(pid) != ""; time.Sleep(5 * time.Millisecond) { // the shell has noticed, too
		if time.Now().After(end) {
			t.Fatalf("its state is %s: %q", state(pid), d.text())
		}
	}
	if shown := d.text(); strings.Contains(shown, "3 of 3") || strings.Contains(shown, "\x1b[?1049h") {
		t.Errorf("in the background it shows %q", shown)
	}
	d.types("exit\r")
	d.end()
}

func TestRemoveOnATerminal(t *testing.T) {
	t.Parallel()
	dir := shelf(t)
	log := filepath.Join(dir, "2025-01-27T15-30-45Z_d4f2aa.jsonl")
	shown, code := terminal(t, dir, nil, "n\n", "sessions", "rm", "latest")
	if _, err := os.Stat(log); err != nil || code != command.ExitError || !strings.Contains(shown, "remove 1 session (") {
		t.Fatalf("no: exit code %d, %v: %q", code, err, shown)
	}
	shown, code = terminal(t, dir, nil, "y\n", "sessions", "rm", "latest")
	if _, err := os.Stat(log); err == nil || code != command.ExitDone || !strings.Contains(shown, "removed 2025-01-27T15-30-45Z_d4f2aa\n") {
		t.Fatalf("yes: exit code %d, %v: %q", code, err, shown)
	}
}

// TestRemovePicked: the chosen session is removed after confirmation.
func TestRemovePicked(t *testing.T) {
	t.Parallel()
	dir := library(t, 40)
	left := func() int {
		logs, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		return len(logs)
	}
	for _, c := range []struct {
		keys string
		left int
		code int
	}{{"\x1b", 40, command.ExitInterrupted}, {"number 17,\rn\n", 40, command.ExitError}, {"number 17,\ry\n", 39, command.ExitDone}} {
		d := talk(t, dir, nil, "sessions", "rm")
		d.sees("Remove which session?")
		pick, answer, asked := strings.Cut(c.keys, "\r")
		if d.types(pick); asked {
			d.types("\r")
			d.sees("remove 1 session (")
			d.types(answer)
		}
		if shown, code := d.end(); code != c.code || left() != c.left {
			t.Errorf("%q: exit code %d, %d left: %q", c.keys, code, left(), shown)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "2025-01-01T00-17-00Z_000011.jsonl")); err == nil {
		t.Error("another session was removed")
	}
}

// TestExportOnATerminal: an export goes to a file instead of filling the terminal.
func TestExportOnATerminal(t *testing.T) {
	t.Parallel()
	d := talk(t, shelf(t), []string{"NO_COLOR=1"}, "sessions", "export")
	shown, code := d.end()
	page, err := os.ReadFile(filepath.Join(d.cmd.Dir, "2025-01-27T15-30-45Z_d4f2aa.html"))
	if code != command.ExitDone || err != nil || !strings.HasPrefix(shown, "wrote 2025-01-27T15-30-45Z_d4f2aa.html (") {
		t.Fatalf("exit code %d, %v: %q", code, err, shown)
	}
	if !bytes.Contains(page, []byte("new red")) || bytes.ContainsRune(page, '\x1b') {
		t.Errorf("%.300q", page)
	}
}
