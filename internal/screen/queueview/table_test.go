package queueview

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// TestTaskTable: the table fits every width, drops the least important columns first, and never
// splits a character.
func TestTaskTable(t *testing.T) {
	t.Parallel()
	lines := func(width int, cells ...string) []string {
		table := (&View{}).tasks(nil)
		table.Rows = append(table.Rows, cells)
		table.Style = func(_, _ int, cell string) string { return cell }
		return table.Lines(width)
	}
	long := []string{"make-the-parser-accept-a68d12", "needs-human", "2", "machine/12345", "3", "conflicts in a file with a long name, and in others", "12m 40s", "$12.30", "日本語のタスク：パーサーを直してテスト"}
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
		"all":               {long, "ID STATE ATTEMPT WORKER ITER DOING SINCE COST TASK"},
		"empty columns":     {[]string{"a-1", "waiting", "", "", "", "", "3 s", "-", "make the parser accept it"}, "ID STATE SINCE TASK"},
		"only short titles": {[]string{"a-1", "merged", "1", "", "2", "", "3 s", "-", "fix it"}, "ID STATE ATTEMPT ITER SINCE TASK"},
	} {
		if got := strings.Join(strings.Fields(lines(240, c.cells...)[0]), " "); got != c.head {
			t.Errorf("%s: %q, want %q", name, got, c.head)
		}
	}
	if row := lines(240, long...)[1]; !strings.HasSuffix(row, long[columnTitle]) {
		t.Errorf("%q", row)
	}
}
