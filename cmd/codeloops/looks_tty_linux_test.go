package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"codeloops/internal/command"
	"codeloops/internal/screen/term"
)

// silentScenario is that of an actor that changes files without reporting it, in two steps, each
// started by the test.
const silentScenario = `
[[actor]]
step = [
  { run = "printf 'b\nc\n' >> kept.txt; printf 'new\n' > made.txt; rm gone.txt; head -c 3000 /dev/zero > zeros; until [ -e $HOME/go1 ]; do sleep 0.02; done" },
  { run = "printf 'd\n' >> kept.txt; rm zeros; until [ -e $HOME/go2 ]; do sleep 0.02; done" },
]
say = "all is done"
[[critic]]
say = "DECISION: DONE\nSEAL: {seal}"
`

// silentRun creates a home for an agent that prints only plain text.
func silentRun(t *testing.T) (home, work string) {
	t.Helper()
	home, work = scriptedHome(t, silentScenario)
	config := filepath.Join(home, ".config", "codeloops", "config.toml")
	text, err := os.ReadFile(config)
	plain := strings.NewReplacer(`, "--format", "claude-stream-json"`, "", `output = "claude-stream-json"`, `output = "text"`).Replace(string(text))
	err = errors.Join(err, os.WriteFile(config, []byte(plain), 0o600))
	for _, name := range []string{"kept.txt", "gone.txt"} {
		err = errors.Join(err, os.WriteFile(filepath.Join(work, name), []byte("a\n"), 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	return home, work
}

// watchesFiles checks that changed files and their line counts appear during the turn, and reads
// the diff so far.
func watchesFiles(t *testing.T, d *dialogue, home string) {
	t.Helper()
	if err := unix.IoctlSetWinsize(int(d.main.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 30, Col: 110}); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"4 files changed +3 −1", "kept.txt +2 −0", "made.txt +1 −0", "zeros binary, 2.9 KiB"} {
		d.sees(text)
	}
	d.types("d")
	for _, text := range []string{term.PasteOff, "deleted file mode", "\x1b[32m+c\x1b[0m\n", "+new", "Binary files /dev/null and b/zeros differ", term.PasteOn} {
		d.sees(text)
	}
	if err := os.WriteFile(filepath.Join(home, "go1"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d.sees("3 files changed +4 −1")
	d.sees("kept.txt +3 −0")
	d.types("d")
	d.sees("+d\x1b[0m\n")
	if strings.Contains(d.text(), "zeros") && strings.Contains(d.text(), "Binary files") {
		t.Errorf("a removed file is in the diff: %q", d.text())
	}
	if err := os.WriteFile(filepath.Join(home, "go2"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestFilesAsTheyChange: the screen shows changes that the agent does not report before the turn
// ends, counted as git does.
func TestFilesAsTheyChange(t *testing.T) {
	t.Parallel()
	home, work := silentRun(t)
	d := onDesk(t, home, work, "--yes", "do it")
	watchesFiles(t, d, home)
	if shown, code := d.end(); code != command.ExitDone {
		t.Errorf("exit code %d: %q", code, shown)
	}
}

// TestFilesAsTheyChangeElsewhere is the same for `watch` on a run without a terminal.
func TestFilesAsTheyChangeElsewhere(t *testing.T) {
	t.Parallel()
	home, work := silentRun(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	run := exec.Command(exe, "--yes", "do it")
	run.Dir = work
	run.Env = []string{
		playCodeloops + "=1", "PATH=" + os.Getenv("PATH"), "HOME=" + home, "CODELOOPS_SESSION_DIR=" + filepath.Join(home, "sessions"),
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "TZ=UTC",
	}
	log, err := os.Create(filepath.Join(home, "shown"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	run.Stdout, run.Stderr = log, log
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = run.Process.Kill() })
	for end := time.Now().Add(liveness); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(work, "zeros")); err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the actor does nothing")
		}
	}
	w := onDesk(t, home, work, "watch")
	watchesFiles(t, w, home)
	if shown, code := w.end(); code != command.ExitDone {
		t.Errorf("watch: exit code %d: %q", code, shown)
	}
	if err := run.Wait(); err != nil {
		t.Error(err)
	}
}
