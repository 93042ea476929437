package queueview

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"codeloops/internal/queue"
)

// TestTaskTable: the table fits every width, drops the least important columns first, and never
// splits a character.
func TestTaskTable(t *testing.T) {
	t.Parallel()
	lines := func(width int, cells ...string) []string {
		table := (&View{}).rows(nil, nil, false, nil)
		table.Rows = append(table.Rows, cells)
		table.Style = func(_, _ int, cell string) string { return cell }
		return table.Lines(width)
	}
	long := []string{"make-the-parser-accept-a68d12", "needs-human !", "claude:sonnet", "conflicts in a file with a long name, and in others", "12m 40s", "$12.30", "日本語のタスク：パーサーを直してテスト"}
	for width := 20; width < 240; width++ {
		for _, line := range lines(width, long...) {
			if n := ansi.StringWidth(line); n > width && width >= 46 { // the ID and the state are always shown
				t.Errorf("%d of %d columns: %q", n, width, line)
			}
		}
	}
	for name, c := range map[string]struct {
		cells []string
		head  string
	}{
		"all":               {long, "ID STATE AGENT DOING SINCE COST TASK"},
		"empty columns":     {[]string{"a-1", "waiting", "", "", "3 s", "-", "make the parser accept it"}, "ID STATE SINCE TASK"},
		"only short titles": {[]string{"a-1", "merged", "claude", "", "3 s", "-", "fix it"}, "ID STATE AGENT SINCE TASK"},
	} {
		if got := strings.Join(strings.Fields(lines(240, c.cells...)[0]), " "); got != c.head {
			t.Errorf("%s: %q, want %q", name, got, c.head)
		}
	}
	if row := lines(240, long...)[1]; !strings.HasSuffix(row, long[len(long)-1]) {
		t.Errorf("%q", row)
	}
}

// TestShowCleans: nothing that another machine says of a task reaches the terminal as it is.
func TestShowCleans(t *testing.T) {
	t.Parallel()
	const odd = "a\x1b[2Jb\rc"
	r := &queue.Record{Task: queue.Task{ID: "one", Prompt: odd}, State: queue.Running, Why: odd, Worker: queue.Worker{Name: odd}}
	r.Course = []queue.Moment{{State: queue.Running, Worker: odd}, {State: queue.Failed, Why: odd}}
	var out strings.Builder
	if err := (&View{Now: time.Unix(0, 0)}).Show(&out, r, []string{odd}, odd); err != nil || strings.ContainsAny(out.String(), "\x1b\r") {
		t.Errorf("%q, %v", out.String(), err)
	}
}
