package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"codeloops/internal/agent/scripted"
	"codeloops/internal/command"
	"codeloops/internal/loop"
	"codeloops/internal/screen/term"
	"codeloops/internal/session"
)

// steeredScenario is that of an actor that waits, in each turn, for a file named after the
// iteration, and expects the messages from the turn before.
const steeredScenario = `
[[actor]]
step = [{ run = "until [ -e $HOME/go1 ]; do sleep 0.02; done" }]
say = "one"
[[actor]]
expect = ["has added this to the task", "use B"]
step = [{ run = "sleep 1000" }]
say = "two"
[[actor]]
expect = ["The user has interrupted your last turn, and says:", "not so"]
step = [{ write = "a.txt", content = "a\n" }, { run = "until [ -e $HOME/go3 ]; do sleep 0.02; done" }]
say = "three"
[[critic]]
say = "DECISION: CONTINUE\nFEEDBACK: more\nSEAL: {seal}"
`

// steeredRun creates a home for that scenario.
func steeredRun(t *testing.T) (home, work string) {
	t.Helper()
	return scriptedHome(t, steeredScenario)
}

// scriptedHome creates a home with a repository and an agent that plays a scenario.
func scriptedHome(t *testing.T, played string) (home, work string) {
	t.Helper()
	home = t.TempDir()
	t.Cleanup(func() { awaitEnd(home) })
	work = filepath.Join(home, "work")
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	scenario := filepath.Join(home, "scenario.toml")
	config := filepath.Join(home, ".config", "codeloops", "config.toml")
	err = errors.Join(
		os.MkdirAll(filepath.Dir(config), 0o700),
		os.WriteFile(scenario, []byte(played), 0o600),
		os.WriteFile(config, fmt.Appendf(nil,
			"agent = \"waits\"\n[agents.waits]\ncommand = [%q, %q, \"--script\", %q, \"--format\", \"claude-stream-json\"]\noutput = \"claude-stream-json\"\n",
			exe, scripted.Command, scenario), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("git", "init", "-q", work).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return home, work
}

// awaitEnd waits until no process has a home any more: a run writes its end into the log before it tidies up, and what it writes
// then cannot be removed at the same time.
func awaitEnd(home string) {
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		environs, _ := filepath.Glob("/proc/[0-9]*/environ")
		if !slices.ContainsFunc(environs, func(name string) bool {
			environ, _ := os.ReadFile(name) // a process may end in between
			return slices.Contains(strings.Split(string(environ), "\x00"), "HOME="+home)
		}) {
			return
		}
	}
}

// onDesk starts codeloops on a terminal, in a repository.
func onDesk(t *testing.T, home, work string, args ...string) *dialogue {
	t.Helper()
	return onDeskWith(t, nil, home, work, args...)
}

// onDeskWith starts it with additional variables.
func onDeskWith(t *testing.T, env []string, home, work string, args ...string) *dialogue {
	t.Helper()
	return talkIn(t, work, append([]string{
		"HOME=" + home, "CODELOOPS_SESSION_DIR=" + filepath.Join(home, "sessions"),
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
	}, env...), args...)
}

// steers returns the user's requests from the log of the only session.
func steers(t *testing.T, home string) (all []loop.Steered) {
	t.Helper()
	logs, err := filepath.Glob(filepath.Join(home, "sessions", "*.jsonl"))
	if err != nil || len(logs) != 1 {
		t.Fatal(logs, err)
	}
	for entry, err := range session.Read(logs[0]) {
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := entry.Event.(loop.Steered); ok {
			all = append(all, e)
		}
	}
	return all
}

// TestSteeredByKeys watches a run, sends the actor a message, interrupts its next turn, and stops
// the run after the one after that.
func TestSteeredByKeys(t *testing.T) {
	t.Parallel()
	home, work := steeredRun(t)
	d := onDesk(t, home, work, "--yes", "do it")
	d.sees("iteration 1 of 10")
	if err := unix.IoctlSetWinsize(int(d.main.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 20, Col: 100}); err != nil {
		t.Fatal(err)
	}
	d.types("f")
	d.sees("tell the actor in its next turn: ")
	d.types("use Bx\x7f\r")
	d.sees("your words go to the actor's next turn")
	goOn := func(name string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(home, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	goOn("go1")
	d.sees(" you tell the actor: use B")
	d.sees("iteration 2 of 10")
	d.types("i")
	d.sees("interrupt the turn, and tell the actor: ")
	d.types("not so\r")
	d.sees(" you have interrupted the turn, and tell the actor: not so")
	d.sees("iteration 3 of 10")
	d.types("s")
	d.sees("stops after this iteration (s: no)")
	goOn("go3")
	shown, code := d.end()
	if code != command.ExitInterrupted || !strings.Contains(shown, "the run stops here, as you asked") || strings.Contains(shown, "of 1h") && strings.HasSuffix(strings.TrimSpace(shown), "? help") {
		t.Errorf("exit code %d: %q", code, shown)
	}
	if got := d.modes(); got != d.found {
		t.Errorf("modes %+v, want %+v", got, d.found)
	}
	want := []loop.Steered{
		{Iteration: 1, Kind: loop.SteerSay, Text: "use B"}, {Iteration: 2, Kind: loop.SteerInterrupt, Text: "not so"}, {Kind: loop.SteerStop},
	}
	if got := steers(t, home); !slices.Equal(got, want) {
		t.Errorf("the log has %+v", got)
	}
}

// pastedScenario is that of an actor that expects the pasted text in its second turn.
const pastedScenario = `
[[actor]]
step = [{ write = "a.txt", content = "a\n" }, { run = "touch $HOME/here; until [ -e $HOME/go1 ]; do sleep 0.02; done" }]
say = "one"
[[actor]]
expect = ["\nuse B\nstop and\nif not, quit\n"]
step = [{ write = "a.txt", content = "b\n" }]
say = "two"
[[critic]]
say = "DECISION: CONTINUE\nFEEDBACK: more\nSEAL: {seal}"
[[critic]]
say = "DECISION: DONE\nSEAL: {seal}\nF1: settled"
`

// TestPastedWords: several pasted lines, with and without bracketed paste, become one text of a
// message, and do nothing elsewhere.
func TestPastedWords(t *testing.T) {
	t.Parallel()
	const words = "use B\rstop and\rif not, quit\r"
	for name, sent := range map[string]string{"marked": term.PasteBegins + words + term.PasteEnds, "not marked": words} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home, work := scriptedHome(t, pastedScenario)
			d := onDesk(t, home, work, "--yes", "do it")
			d.sees(term.PasteOn)
			d.sees("? help")
			d.types(sent)
			d.sees("pasted text is not read as keys")
			d.types("f")
			d.sees("tell the actor in its next turn: ")
			d.types(sent)
			d.sees("use B stop and if not, quit")
			d.types("\r")
			d.sees("your words go to the actor's next turn")
			if err := os.WriteFile(filepath.Join(home, "go1"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			shown, code := d.end()
			if code != 0 || strings.Count(shown, term.PasteOff) != 1 || strings.Contains(shown, term.PasteOn) {
				t.Errorf("exit code %d: %q", code, shown)
			}
			want := []loop.Steered{{Iteration: 1, Kind: loop.SteerSay, Text: "use B\nstop and\nif not, quit"}}
			if got := steers(t, home); !slices.Equal(got, want) {
				t.Errorf("the log has %+v", got)
			}
		})
	}
}
