package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"codeloops/internal/command"
	"codeloops/internal/loop"
)

// pidOf returns the process of the only run of a home, according to its lock.
func pidOf(t *testing.T, home string) int {
	t.Helper()
	locks, err := filepath.Glob(filepath.Join(home, ".local/share/codeloops/locks/*.lock"))
	if err != nil || len(locks) != 1 {
		t.Fatal(locks, err)
	}
	text, err := os.ReadFile(locks[0])
	if err != nil {
		t.Fatal(err)
	}
	digits, _, _ := strings.Cut(strings.TrimPrefix(string(text), `{"pid":`), ",")
	pid, err := strconv.Atoi(digits)
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return pid
}

// TestWatchedAndSteered watches a run from another terminal, sends the actor a message from there,
// interrupts it and stops the run: both screens show it, and watching ends with the run.
func TestWatchedAndSteered(t *testing.T) {
	t.Parallel()
	home, work := steeredRun(t)
	run := onDesk(t, home, work, "--yes", "do it")
	run.sees("iteration 1 of 10")
	w := onDesk(t, home, work, "watch")
	w.sees("f feedback")
	w.types("f")
	w.sees("tell the actor in its next turn: ")
	w.types("use B\r")
	w.sees("your words go to the actor's next turn")
	run.sees("your words go to the actor's next turn")
	goOn := func(name string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(home, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	goOn("go1")
	w.sees(" you tell the actor: use B")
	w.sees("iteration 2 of 10")
	w.types("i")
	w.sees("interrupt the turn, and tell the actor: ")
	w.types("not so\r")
	w.sees(" you have interrupted the turn, and tell the actor: not so")
	w.sees("iteration 3 of 10")

	// Leaving ends nothing.
	other := onDesk(t, home, work, "watch")
	other.sees("iteration 3 of 10")
	other.types("q")
	if shown, code := other.end(); code != command.ExitDone || !strings.Contains(shown, "you have left; session ") {
		t.Errorf("left: exit code %d: %q", code, shown)
	}
	w.types("s")
	w.sees("stops after this iteration (s: no)")
	run.sees("stops after this iteration (s: no)")
	goOn("go3")
	for name, d := range map[string]*dialogue{"the run": run, "the watching": w} {
		shown, code := d.end()
		if code != command.ExitInterrupted || !strings.Contains(shown, "the run stops here, as you asked") {
			t.Errorf("%s: exit code %d: %q", name, code, shown)
		}
		if got := d.modes(); got != d.found {
			t.Errorf("%s: modes %+v, want %+v", name, got, d.found)
		}
	}
	want := []loop.Steered{
		{Iteration: 1, Kind: loop.SteerSay, Text: "use B"}, {Iteration: 2, Kind: loop.SteerInterrupt, Text: "not so"}, {Kind: loop.SteerStop},
	}
	if got := steers(t, home); !slices.Equal(got, want) {
		t.Errorf("the log has %+v", got)
	}
}

// TestWatchedAndKilled: watching a run that is killed ends with a message, and Ctrl+C leaves one
// that continues.
func TestWatchedAndKilled(t *testing.T) {
	t.Parallel()
	home, work := steeredRun(t)
	run := onDesk(t, home, work, "--yes", "do it")
	run.sees("iteration 1 of 10")
	left, w := onDesk(t, home, work, "watch"), onDesk(t, home, work, "watch")
	left.sees("f feedback")
	left.types("\x03")
	if shown, code := left.end(); code != command.ExitInterrupted || !strings.Contains(shown, "you have left; session ") {
		t.Errorf("left: exit code %d: %q", code, shown)
	}
	w.sees("f feedback")
	if err := syscall.Kill(pidOf(t, home), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	shown, code := w.end()
	if code != command.ExitError || !strings.Contains(shown, "has no end: its process was killed") || !strings.Contains(shown, "carries it on") {
		t.Errorf("exit code %d: %q", code, shown)
	}
	if got := w.modes(); got != w.found {
		t.Errorf("modes %+v, want %+v", got, w.found)
	}
	run.end()
}

// TestWatchLeftInSilence: q ends the watching of a run from which nothing comes, and keys behind it do
// nothing. Watching that is started together with a run finds it.
func TestWatchLeftInSilence(t *testing.T) {
	t.Parallel()
	home, work := steeredRun(t)
	run := onDesk(t, home, work, "--yes", "do it")
	w := onDesk(t, home, work, "watch")
	w.sees("f feedback")
	pid := pidOf(t, home)
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	w.types("qs")
	if shown, code := w.end(); code != command.ExitDone || !strings.Contains(shown, "you have left; session ") {
		t.Errorf("left: exit code %d: %q", code, shown)
	}
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	run.types("?")
	run.sees("interrupt the actor's turn")
	if shown := run.text(); strings.Contains(shown, "stops after this iteration (s: no)") {
		t.Errorf("the key behind q was obeyed: %q", shown)
	}
	run.types("\x03\x03")
	run.end()
}

// TestWatchOneOfSeveral: if several runs could be meant, the user chooses one.
func TestWatchOneOfSeveral(t *testing.T) {
	t.Parallel()
	home, work := steeredRun(t)
	var runs []*dialogue
	for _, args := range [][]string{
		{"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "start"},
		{"worktree", "add", "-q", "../one"},
		{"worktree", "add", "-q", "../two"},
	} {
		if out, err := exec.Command("git", append([]string{"-C", work}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	for _, name := range []string{"one", "two"} {
		run := onDesk(t, home, filepath.Join(home, name), "--yes", "do the work of tree "+name)
		run.sees("iteration 1 of 10")
		runs = append(runs, run)
	}
	w := onDesk(t, home, work, "watch")
	w.sees("Watch which run?")
	w.types("tree one")
	w.types("\r")
	w.sees("f feedback")
	w.types("q")
	if shown, code := w.end(); code != command.ExitDone {
		t.Errorf("exit code %d: %q", code, shown)
	}
	for _, run := range runs {
		run.types("\x03\x03")
		run.end()
	}
}
