package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/sys/unix"
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

// TestQueueOnATerminal watches tasks in lines that are drawn anew, in any width, stops them by Ctrl+C,
// goes on, and lists them.
func TestQueueOnATerminal(t *testing.T) {
	t.Parallel()
	home, work := scriptedHome(t, queuedScenario)
	commit := exec.Command("git", "-C", work, "-c", "user.name=n", "-c", "user.email=e@example.org", "commit", "-q", "--allow-empty", "-m", "first")
	if out, err := commit.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, prompt := range []string{"write it", "日本語のタスク"} {
		if shown, code := onDesk(t, home, work, "queue", "add", prompt).end(); code != exitDone {
			t.Fatalf("exit code %d: %s", code, shown)
		}
	}
	d := onDesk(t, home, work, "queue", "run", "--budget-cost", "9")
	d.sees(" · actor's turn · ")
	d.sees("1 waiting, budget: $0.00 of $9.00 ($9.00 reserved)")
	if err := unix.IoctlSetWinsize(int(d.main.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 10, Col: 30}); err != nil {
		t.Fatal(err)
	}
	d.sees("…")
	d.types("\x03")
	d.sees("stopping; Ctrl+C again kills at once")
	if shown, code := d.end(); code != exitInterrupted {
		t.Errorf("exit code %d: %q", code, shown)
	}
	if err := os.WriteFile(filepath.Join(home, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if shown, code := onDesk(t, home, work, "queue", "run").end(); code != exitDone || strings.Contains(shown, "attempt 1\n") {
		t.Errorf("exit code %d: %q", code, shown)
	}
	shown, code := onDesk(t, home, work, "queue", "list").end()
	if code != exitDone || strings.Count(shown, "merged") != 2 || !strings.Contains(shown, "日本語のタスク") {
		t.Errorf("exit code %d: %q", code, shown)
	}
	for line := range strings.Lines(ansi.Strip(shown)) {
		if w := ansi.StringWidth(strings.TrimSpace(line)); w > 80 {
			t.Errorf("%d columns: %q", w, line)
		}
	}
}

// TestTaskColumns: a table fits whatever the width, says what matters longest, and never cuts
// within a character.
func TestTaskColumns(t *testing.T) {
	t.Parallel()
	rows := [][]string{
		{"ID", "STATE", "ATTEMPT", "WORKER", "ITER", "DOING", "SINCE", "COST", "TASK"},
		{"make-the-parser-accept-a68d12", "needs-human", "2", "machine/12345", "3", "conflicts in a file with a long name, and in others", "12m 40s", "$12.30", "日本語のタスク：パーサーを直してテスト"},
	}
	for width := 20; width < 240; width++ {
		sum := -2
		for _, w := range taskColumns(rows, width) {
			if w > 0 {
				sum += w + 2
			}
		}
		if sum > width && width >= 46 { // the ID and the state are said in any case
			t.Errorf("%d of %d columns", sum, width)
		}
	}
	if widths := taskColumns(rows, 240); widths[columnWorker] == 0 || widths[columnTitle] != ansi.StringWidth(rows[1][columnTitle]) {
		t.Errorf("%v", widths)
	}
	rows[1][columnCost], rows[1][columnIteration] = "-", ""
	if widths := taskColumns(rows, 240); widths[columnCost] != 0 || widths[columnIteration] != 0 {
		t.Errorf("columns that say nothing: %v", widths)
	}
}
