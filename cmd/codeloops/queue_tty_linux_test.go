package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/sys/unix"

	"codeloops/internal/command"
)

const queuedScenario = `
[[actor]]
step = [{ run = "until [ -e $HOME/go ]; do sleep 0.02; done; touch done" }]
say = "done"
usage = { input = 10, output = 2, cost = 0.5 }
[[critic]]
say = "DECISION: DONE\nSEAL: {seal}"
usage = { input = 10, output = 2, cost = 0.25 }
`

// TestQueueOnATerminal: tasks are shown in rows that are redrawn, at any width; Ctrl+C stops them,
// and they can be continued and listed.
func TestQueueOnATerminal(t *testing.T) {
	t.Parallel()
	home, work := scriptedHome(t, queuedScenario)
	commit := exec.Command("git", "-C", work, "-c", "user.name=n", "-c", "user.email=e@example.org", "commit", "-q", "--allow-empty", "-m", "first")
	if out, err := commit.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, prompt := range []string{"write it", "日本語のタスク"} {
		if shown, code := onDesk(t, home, work, "queue", "add", prompt).end(); code != command.ExitDone {
			t.Fatalf("exit code %d: %s", code, shown)
		}
	}
	d := onDesk(t, home, work, "queue", "run", "--budget-cost", "9")
	d.sees("iteration 1 actor's turn")
	d.sees("1 waiting, 1 running, budget: $0.00 of $9.00")
	if err := unix.IoctlSetWinsize(int(d.main.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 10, Col: 30}); err != nil {
		t.Fatal(err)
	}
	d.sees("…")
	d.types("\x03")
	d.sees("stopping; Ctrl+C again kills at once")
	if shown, code := d.end(); code != command.ExitInterrupted {
		t.Errorf("exit code %d: %q", code, shown)
	}
	if err := os.WriteFile(filepath.Join(home, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if shown, code := onDesk(t, home, work, "queue", "run").end(); code != command.ExitDone || strings.Contains(shown, "attempt 1\n") {
		t.Errorf("exit code %d: %q", code, shown)
	}
	shown, code := onDesk(t, home, work, "queue", "list").end()
	if code != command.ExitDone || strings.Count(shown, "merged") != 2 || !strings.Contains(shown, "日本語のタスク") {
		t.Errorf("exit code %d: %q", code, shown)
	}
	leaveBoard(t, home, work, queuedID(t, shown))
	for line := range strings.Lines(ansi.Strip(shown)) {
		if w := ansi.StringWidth(strings.TrimSpace(line)); w > 80 {
			t.Errorf("%d columns: %q", w, line)
		}
	}
}

// leaveBoard cancels a task that comes after another one on the board, and leaves that.
func leaveBoard(t *testing.T, home, work, after string) {
	t.Helper()
	board := onDesk(t, home, work, "queue", "add", "--after", after, "after it")
	if shown, code := board.end(); code != command.ExitDone {
		t.Fatalf("exit code %d: %s", code, shown)
	}
	board = onDesk(t, home, work, "queue")
	board.sees("2 merged")
	board.sees("Enter opens it")
	board.types("x")
	board.sees("x again cancels after-it-")
	board.types("x")
	board.sees("1 cancelled")
	board.types("\x1b[B")
	board.types("\r")
	board.sees("codeloops/after-it-") // with a pager that does not wait
	board.types("q")
	if shown, code := board.end(); code != command.ExitDone {
		t.Errorf("exit code %d: %q", code, shown)
	}
}

// queuedID returns the ID of the first task in a list.
func queuedID(t *testing.T, list string) string {
	t.Helper()
	lines := strings.Split(ansi.Strip(list), "\n")
	for _, line := range lines[1:] {
		if id, _, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			return id
		}
	}
	t.Fatalf("there is no task in %q", list)
	return ""
}
