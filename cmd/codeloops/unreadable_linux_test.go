package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// nobody is an unprivileged user, needed because root may read everything.
const nobody = 65534

// TestUnreadable: sessions list works for a user who may not read all logs or write next to them.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	sessions := filepath.Join(dir, "sessions")
	const log = `{"type":"session_start","timestamp":"2025-02-01T00:00:00Z","prompt":"p","working_dir":"/p","actor_agent":"a","critic_agent":"a"}` + "\n" +
		`{"type":"session_end","timestamp":"2025-02-01T00:01:00Z","outcome":"success","iterations":0,"duration_secs":60.0,"totals":{}}` + "\n"
	id := func(i int) string { return fmt.Sprintf("2025-02-01T00-%02d-%02dZ_aaaaaa", i/60, i%60) }
	if err := os.Mkdir(sessions, 0o755); err != nil {
		t.Fatal(err)
	}
	hide := func(path string, mode os.FileMode) {
		t.Helper()
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	const n = 150 // enough for an index
	for i := range n {
		path := filepath.Join(sessions, id(i)+".jsonl")
		if err := os.WriteFile(path, []byte(log), 0o644); err != nil {
			t.Fatal(err)
		}
		hide(path, 0o644) // whatever the umask is
	}
	run := asNobody(t, dir)
	expect := func(code, lines int, says string, args ...string) {
		t.Helper()
		cmd, stdout, stderr := run(append(args, "--session-dir", sessions)...)
		_ = cmd.Run() // the exit code is checked below
		if cmd.ProcessState.ExitCode() != code || strings.Count(stdout.String(), "\n") != lines || !strings.Contains(stderr.String(), says) || says == "" && stderr.Len() > 0 {
			t.Errorf("%v: exit code %d, %d lines, %s", args, cmd.ProcessState.ExitCode(), strings.Count(stdout.String(), "\n"), stderr)
		}
	}
	hide(sessions, 0o555) // from everyone but root
	expect(0, n, "", "sessions", "list")
	hide(filepath.Join(sessions, id(7)+".jsonl"), 0)
	expect(0, n-1, id(7)+".jsonl: permission denied", "sessions", "list")
	expect(2, 0, "permission denied", "sessions", "show", id(7))
	hide(sessions, 0)
	expect(0, 0, "sessions: permission denied", "sessions", "list")
	expect(2, 0, "permission denied", "sessions", "show", id(8))
	hide(sessions, 0o755)
}

// asNobody returns a function that prepares codeloops to run as an unprivileged user.
func asNobody(t *testing.T, dir string) func(args ...string) (*exec.Cmd, *bytes.Buffer, *bytes.Buffer) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var as *syscall.SysProcAttr
	if os.Getuid() == 0 {
		as = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		// Another process copies it: a process forked here meanwhile would hold the file open for
		// writing until its exec, and the file could not be run.
		program := filepath.Join(dir, "codeloops")
		if out, err := exec.Command("cp", self, program).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		self = program
		if err := os.Chmod(self, 0o755); err != nil {
			t.Fatal(err)
		}
		for up := dir; up != os.TempDir() && up != "/"; up = filepath.Dir(up) {
			if err := os.Chmod(up, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	return func(args ...string) (*exec.Cmd, *bytes.Buffer, *bytes.Buffer) {
		cmd := exec.Command(self, args...)
		cmd.SysProcAttr, cmd.Dir = as, "/"
		cmd.Env = []string{"HOME=" + dir, playCodeloops + "=1"}
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		return cmd, &stdout, &stderr
	}
}

// TestUnreadableFile: a file that an agent has made unreadable is part of the change, to which the
// rules on paths apply, and a restore does not claim to have put it back.
func TestUnreadableFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run := asNobody(t, dir)
	repo := filepath.Join(dir, "repo")
	sh := func(script string) {
		t.Helper()
		cmd := exec.Command("sh", "-ec", script)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	sh(`mkdir -p repo .config/codeloops && cd repo && git init -q && echo old >file && echo old >other && git add . &&
git -c user.name=u -c user.email=e commit -qm first && chmod -R u+rwX . && cat >../.config/codeloops/config.toml <<'END'
[actor]
agent = "act"
[critic]
agent = "judge"
[policy]
deny_paths = ["secret/**"]
[agents.hide]
command = ["sh", "-c", "mkdir -p secret; echo evil >secret/s; chmod 0 secret"]
[agents.calm]
command = ["sh", "-c", "cat >../prompt; echo new >new"]
[agents.act]
command = ["sh", "-c", "cat >../prompt; echo new >file; chmod 0 file"]
[agents.judge]
command = ["sh", "-c", "cat >../prompt; echo DECISION: DONE"]
END`)
	if os.Getuid() == 0 {
		sh(fmt.Sprintf("chown -R %d:%d .", nobody, nobody))
	}
	expect := func(code int, says string, args ...string) {
		t.Helper()
		cmd, stdout, stderr := run(args...)
		cmd.Dir, cmd.Env = repo, append(cmd.Env, "PATH="+os.Getenv("PATH"))
		_ = cmd.Run() // the exit code is checked below
		if cmd.ProcessState.ExitCode() != code || !strings.Contains(stdout.String()+stderr.String(), says) {
			t.Errorf("%v: exit code %d, %s%s", args, cmd.ProcessState.ExitCode(), stdout, stderr)
		}
	}
	expect(0, "cannot read file: permission denied; changes there are not seen", "-n", "1", "change the file, please")
	if asked, err := os.ReadFile(filepath.Join(dir, "prompt")); err != nil || !strings.Contains(string(asked), "modified  file: it cannot be read") {
		t.Errorf("the critic was asked %s, %v", asked, err)
	}
	expect(0, "they already were, as far as they can be read\nnot put back: cannot read file: permission denied", "sessions", "restore", "--iteration", "0", "--yes")
	// What checks leave like that is thrown away as well.
	expect(0, "", "-n", "1", "--actor-agent", "calm", "--check", "mkdir -p out/in && touch out/in/x && chmod 555 out/in out", "--check", "test ! -e out && chmod 0 other", "add a file, please")
	expect(2, "secret/", "-n", "3", "--actor-agent", "hide", "change the file, please")
}
